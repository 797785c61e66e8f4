"""Formats cells of OpenDocument spreadsheets whose type is stated and whose style is not.

Cells of pandas and odfpy are dates, times and booleans without a style of numbers. LibreOffice displays their numbers: days
since 1899, fractions of a day, 0 and 1. Source: OpenDocument 1.3 part 3, 19.387 office:value-type.
"""
import re
import zipfile
from collections import namedtuple
from xml.parsers import expat

from com.sun.star.lang import Locale
from com.sun.star.table import CellRangeAddress

ENGLISH = Locale("en", "US", "")
# Formats by type. Those of a locale may have two digits for the year.
FORMATS = {
    "boolean": "BOOLEAN",
    "date": "YYYY-MM-DD",
    "date-time": "YYYY-MM-DD HH:MM:SS",
    "time": "[HH]:MM:SS",
}
# Width that a date with a time needs in the default font, in 1/100 mm. Numbers that are wider than their column are "###".
DATE_TIME_WIDTH = 3600
# Maximum number of ranges that are formatted, and of bytes that are read.
MAX_RANGES, MAX_BYTES = 50_000, 256 * 1024**2
PIECE_BYTES = 1024**2
# Programs whose cells have styles: reading these files would take longer than LibreOffice does.
OFFICE_PROGRAM = re.compile(rb"<meta:generator>[^<]*Office")

TABLES = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 "
VALUES = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 "
TABLE, ROW = TABLES + "table", TABLES + "table-row"
CELLS = (TABLES + "table-cell", TABLES + "covered-table-cell")

TypedRange = namedtuple("TypedRange", "sheet type first_column last_column first_row last_row")


def read_typed_ranges(file):
    """Returns the ranges of dates, times and booleans that have no style of their own and no formula."""
    open_part = zipfile.ZipFile(file).open if zipfile.is_zipfile(file) else lambda _name: open(file, "rb")
    if is_from_office_program(open_part):
        return []
    with open_part("content.xml") as content:
        return Reader().read(content)


def is_from_office_program(open_part):
    try:
        with open_part("meta.xml") as meta:
            return OFFICE_PROGRAM.search(meta.read(PIECE_BYTES)) is not None
    except KeyError:
        return False


def format_typed_ranges(document, typed_ranges):
    """Formats cells of these ranges that have no number format. The document must not be read-only."""
    formats, sheets = document.getNumberFormats(), document.getSheets()
    for name in {typed.sheet for typed in typed_ranges if sheets.hasByName(typed.sheet)}:
        table = sheets.getByName(name)
        general = [
            area
            for ranges in table.getUniqueCellFormatRanges()
            if is_general(formats, ranges.NumberFormat)
            for area in ranges.getRangeAddresses()
        ]
        for kind, code in FORMATS.items():
            typed = [typed for typed in typed_ranges if (typed.sheet, typed.type) == (name, kind)]
            wanted = cells_of(document, addresses(table.getRangeAddress(), typed))
            found = [part for area in general for part in wanted.queryIntersection(area).getRangeAddresses()]
            if found:
                cells_of(document, found).setPropertyValue("NumberFormat", format_key(formats, code))
                if kind == "date-time":
                    widen_columns(table, found)


def cells_of(document, found):
    cells = document.createInstance("com.sun.star.sheet.SheetCellRanges")
    cells.addRangeAddresses(tuple(found), False)
    return cells


def is_general(formats, key):
    return key == formats.getStandardIndex(formats.getByKey(key).Locale)


def addresses(sheet, typed_ranges):
    """Yields the addresses of ranges, cut at the last column and row of LibreOffice."""
    for typed in typed_ranges:
        if typed.first_column <= sheet.EndColumn and typed.first_row <= sheet.EndRow:
            last_column, last_row = min(typed.last_column, sheet.EndColumn), min(typed.last_row, sheet.EndRow)
            yield CellRangeAddress(sheet.Sheet, typed.first_column, typed.first_row, last_column, last_row)


def format_key(formats, code):
    key = formats.queryKey(code, ENGLISH, False)
    return formats.addNew(code, ENGLISH) if key == -1 else key


def widen_columns(table, found):
    columns = table.getColumns()
    for index in {index for address in found for index in range(address.StartColumn, address.EndColumn + 1)}:
        column = columns.getByIndex(index)
        if column.Width < DATE_TIME_WIDTH:
            column.Width = DATE_TIME_WIDTH


class Reader:
    """Finds typed cells in a stream of XML."""

    def __init__(self):
        self.found = []
        # Ranges that the next row may extend, by type, first and last column.
        self.open = {}
        # Depth of nested tables: those in cells and charts are no sheets.
        self.depth = 0
        self.sheet, self.row, self.column, self.repeated_rows = "", 0, 0, 1
        self.starts = {TABLE: self.start_table, ROW: self.start_row, **dict.fromkeys(CELLS, self.start_cell)}

    def read(self, content):
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        for _piece in range(MAX_BYTES // PIECE_BYTES):
            piece = content.read(PIECE_BYTES)
            if not piece or len(self.found) + len(self.open) > MAX_RANGES:
                break
            parser.Parse(piece)
        self.close_ranges(lambda _last_row: True)
        return self.found[:MAX_RANGES]

    def start(self, name, attributes):
        if name == TABLE:
            self.depth += 1
        start = self.starts.get(name)
        if start is not None and self.depth == 1:
            start(attributes)

    def end(self, name):
        if name == TABLE:
            self.depth -= 1
            if self.depth == 0:
                self.close_ranges(lambda _last_row: True)
        elif name == ROW and self.depth == 1:
            self.row += self.repeated_rows
            self.close_ranges(lambda last_row: last_row < self.row - 1)

    def start_table(self, attributes):
        self.sheet, self.row = attributes.get(TABLES + "name", ""), 0

    def start_row(self, attributes):
        self.column, self.repeated_rows = 0, int(attributes.get(TABLES + "number-rows-repeated", 1))

    def start_cell(self, attributes):
        columns = int(attributes.get(TABLES + "number-columns-repeated", 1))
        kind = type_of(attributes)
        if kind is not None:
            columns_of_range = (kind, self.column, self.column + columns - 1)
            first_row = self.open.get(columns_of_range, (self.row,))[0]
            self.open[columns_of_range] = (first_row, self.row + self.repeated_rows - 1)
        self.column += columns

    def close_ranges(self, is_closed):
        """Moves ranges that no further row extends to those that are found."""
        for columns, (first_row, last_row) in list(self.open.items()):
            if is_closed(last_row):
                self.found.append(TypedRange(self.sheet, *columns, first_row, last_row))
                del self.open[columns]


def type_of(attributes):
    """Returns the type of a date, a time or a boolean; None for other cells and formulas, which have a format of their own."""
    kind = attributes.get(VALUES + "value-type")
    if kind not in FORMATS or TABLES + "formula" in attributes:
        return None
    return "date-time" if kind == "date" and "T" in attributes.get(VALUES + "date-value", "") else kind
