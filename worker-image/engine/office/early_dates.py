"""Corrects dates before March 1900 in workbooks of Excel.

Excel counts 29 February 1900, a day that did not exist. LibreOffice counts from 30 December 1899, so that later dates are
the same and earlier ones are one day less. Source: [MS-OI29500] 2.1.1180, ECMA-376 part 1, 18.17.4.
"""
from itertools import islice

# Flags of com.sun.star.sheet.CellFlags: VALUE and DATETIME; FORMULA
NUMBERS, FORMULAS = 1 | 2, 16
# com.sun.star.util.NumberFormat.DATE
DATE = 2
# Day 0 of workbooks that begin in 1900. Those that begin in 1904 have no such day.
FIRST_DAY = (1899, 12, 30)
# Serial numbers of 1 January 1900 and of the day that did not exist.
FIRST, MISSING_DAY = 1, 60
# Maximum number of cells that are corrected: more take many seconds, and are hardly dates.
MAX_CELLS = 20_000


def correct_early_dates(document, has_formulas):
    """Adds a day to early dates. Formulas are replaced by their dates, unless the output has formulas."""
    first_day = document.NullDate
    if (first_day.Year, first_day.Month, first_day.Day) != FIRST_DAY:
        return
    formats = document.getNumberFormats()
    flags = NUMBERS if has_formulas else NUMBERS | FORMULAS
    cells = (cell for sheet in document.getSheets() for cell in early_dates(sheet, formats, flags))
    found = list(islice(cells, MAX_CELLS + 1))
    if not 0 < len(found) <= MAX_CELLS:
        return
    if not has_formulas:
        # Formulas that refer to these dates keep their values. Those without a stored value are calculated before.
        document.calculate()
        document.enableAutomaticCalculation(False)
    for cell, value in found:
        cell.setValue(value + 1)


def early_dates(sheet, formats, flags):
    """Yields cells that are displayed as a date before March 1900, with their serial numbers."""
    for ranges in sheet.getUniqueCellFormatRanges():
        if not formats.getByKey(ranges.NumberFormat).Type & DATE:
            continue
        for cells in ranges.queryContentCells(flags):
            for row, values in enumerate(cells.getDataArray()):
                for column, value in enumerate(values):
                    if isinstance(value, float) and FIRST <= value < MISSING_DAY:
                        cell = cells.getCellByPosition(column, row)
                        if has_digits(cell.getString()):
                            yield cell, value


def has_digits(text):
    """Returns whether a text is a date. Without digits it is a weekday, which is a Sunday for 1 in Excel and LibreOffice."""
    return any(character.isdecimal() for character in text)
