require('sharp');process.exit(0)
