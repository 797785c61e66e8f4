"""Compares a rewritten PDF with the original and prints one line per difference.

usage: compare-structure.py ORIGINAL REWRITTEN
"""

import os
import sys

# Isolated mode (-I) does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from compare_files import differences, read_file


def main(original: str, rewritten: str) -> None:
    for line in differences(read_file(original), read_file(rewritten)):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
