import 'sharp';process.exit(0)
