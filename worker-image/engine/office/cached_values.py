"""Restores the values that Excel stored in a workbook where LibreOffice displays others.

LibreOffice displays an error for a formula with a function that it does not know, its own file in place of the author's
for CELL("filename"), and the booleans of an xls workbook as numbers. Sources: [MS-XLS] for the records of xls, ECMA-376 part 1 for xlsx.
"""
import posixpath
import struct
import zipfile
from collections import namedtuple
from xml.etree import ElementTree

from com.sun.star.lang import Locale
from com.sun.star.table import CellRangeAddress

# com.sun.star.util.NumberFormat.LOGICAL and com.sun.star.sheet.FormulaResult.ERROR
LOGICAL, ERROR = 1024, 4
# Errors of cells that LibreOffice can calculate: #NUM!, #VALUE!, #REF!, #DIV/0!, #N/A
CALCULATED_ERRORS = (503, 519, 524, 532, 32767)
# Flag of com.sun.star.sheet.CellFlags
FORMULAS = 16
# Start of a formula with the path of the workbook.
FILE_NAME = 'CELL("filename"'
# Maximum number of cells of a sheet whose formulas are replaced: more take minutes.
MAX_REPLACED = 100_000

BOF, END, SHEET, FILE_PASS = 0x809, 0x0A, 0x85, 0x2F
FORMULA, BOOL_OR_ERROR, STRING = 0x06, 0x205, 0x207
WORKSHEET = 0
EXCEL_97 = 0x600
# Kinds of a formula's value that is not a number.
BOOLEAN_VALUE, ERROR_VALUE, EMPTY_VALUE = 1, 2, 3
ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}

Sheet = namedtuple("Sheet", "name offset")


def restore_booleans(document, stream):
    """Formats the booleans of an xls workbook as such. The document must not be read-only."""
    key = document.getNumberFormats().getStandardFormat(LOGICAL, Locale())
    for table, sheet in matching(document, xls_sheets(stream)):
        values = xls_values(stream, sheet.offset)
        cells = [cell for cell, value in values.items() if isinstance(value, bool)]
        if not cells:
            continue
        ranges = document.createInstance("com.sun.star.sheet.SheetCellRanges")
        index = table.getRangeAddress().Sheet
        for column, first, last in vertical_runs(cells):
            ranges.addRangeAddress(CellRangeAddress(index, column, first, column, last), False)
        ranges.setPropertyValue("NumberFormat", key)


def replace_xls_formulas(document, stream):
    """Replaces formulas of an xls workbook that LibreOffice calculates differently by the values that it stores."""
    sheets = matching(document, xls_sheets(stream))
    replace_formulas(document, sheets, lambda sheet, _cells: xls_values(stream, sheet.offset))


def restore_xlsx_values(document, file, has_formulas):
    """Calculates an xlsx workbook that demands it. Then, unless the output has formulas, replaces those that LibreOffice
    calculates differently by the values that the workbook stores."""
    with zipfile.ZipFile(file) as package:
        book = workbook_part(package)
        demands = is_calculated_on_load(package, book)
        if demands:
            document.calculateAll()
        if has_formulas:
            return

        def read_values(sheet, cells):
            values = xlsx_values(package, sheet.offset, cells)
            return without_zeros(values) if demands else values

        replace_formulas(document, matching(document, xlsx_sheets(package, book)), read_values)


def is_calculated_on_load(package, book):
    """Returns whether Excel calculates all formulas when it opens the workbook."""
    elements = ElementTree.fromstring(package.read(book)).iter()
    return any(local(element.tag) == "calcPr" and element.get("fullCalcOnLoad") in ("1", "true") for element in elements)


def without_zeros(values):
    """Returns the values without the number 0, which XlsxWriter stores for each formula that it does not calculate."""
    return {cell: value for cell, value in values.items() if value is False or value != 0}


def matching(document, sheets):
    """Returns the sheets that LibreOffice imported, each with its place in the file."""
    tables = document.getSheets()
    return [(tables.getByName(sheet.name), sheet) for sheet in sheets if tables.hasByName(sheet.name)]


def replace_formulas(document, sheets, read_values):
    sheets = [(table, sheet) for table, sheet in sheets if table.queryContentCells(FORMULAS).hasElements()]
    for table, sheet in sheets:
        search = table.createSearchDescriptor()
        search.setSearchString(FILE_NAME)
        replace_cells(cells_of(table.findAll(search)), lambda cells, sheet=sheet: read_values(sheet, cells), "")
    errors = [(sheet, cells_of(table.queryFormulaCells(ERROR))) for table, sheet in sheets]
    if not any(cells for _sheet, cells in errors):
        return
    # The query calculates formulas that have no stored value, which are empty without automatic calculation.
    for table in document.getSheets():
        table.queryFormulaCells(ERROR)
    # Formulas that refer to these cells keep their values: some have others for a text than for an error.
    document.enableAutomaticCalculation(False)
    for sheet, cells in errors:
        replace_cells(cells, lambda cells, sheet=sheet: read_values(sheet, cells), None)


def cells_of(ranges):
    """Returns cells by row and column; none without ranges."""
    cells = {}
    found = ranges and ranges.getCells().createEnumeration()
    while found and found.hasMoreElements() and len(cells) < MAX_REPLACED:
        cell = found.nextElement()
        address = cell.getCellAddress()
        cells[(address.Row, address.Column)] = cell
    return cells


def replace_cells(cells, read_values, default):
    """Replaces the cells by their stored values, or the default; None changes nothing."""
    values = read_values(cells) if cells else {}
    for position, cell in cells.items():
        value = values.get(position, default)
        if value == "" and cell.getError() in CALCULATED_ERRORS:
            # xlwt stores an empty text for every formula.
            continue
        if isinstance(value, bool):
            cell.setString("TRUE" if value else "FALSE")
        elif isinstance(value, str):
            cell.setString(value)
        elif value is not None:
            cell.setValue(value)


def vertical_runs(cells):
    """Yields the column, first row and last row of adjacent cells."""
    start = previous = None
    for cell in sorted((column, row) for row, column in cells):
        if previous != (cell[0], cell[1] - 1):
            if start is not None:
                yield *start, previous[1]
            start = cell
        previous = cell
    yield *start, previous[1]


def xls_sheets(stream):
    """Returns the worksheets of Excel 5 to 2003; none of an encrypted workbook."""
    sheets = []
    for kind, start, end in records(stream, 0):
        if kind == FILE_PASS:
            return []
        if kind == SHEET and end - start >= 8 and stream[start + 5] == WORKSHEET:
            (offset,) = struct.unpack_from("<I", stream, start)
            sheets.append(Sheet(text_of(stream, start + 7, stream[start + 6]), offset))
    return sheets


def xls_values(stream, offset):
    """Returns the values of formulas and the constant booleans of a sheet, by row and column. Errors are texts."""
    values = {}
    cell = (0, 0)
    for kind, start, end in records(stream, offset):
        if kind in (FORMULA, BOOL_OR_ERROR) and end - start >= 8:
            cell = struct.unpack_from("<HH", stream, start)
            value = formula_value(stream[start + 6 : end]) if kind == FORMULA else constant(stream, start + 6)
            if value is not None:
                values[cell] = value
        elif kind == STRING and end - start >= 3:
            values[cell] = text_of(stream, start + 2, *struct.unpack_from("<H", stream, start))
    return values


def formula_value(data):
    """Returns a number, a boolean, an error or an empty text; None for other texts, which are in the next record."""
    if len(data) < 8:
        return None
    if data[6:8] != b"\xff\xff":
        return struct.unpack_from("<d", data)[0]
    return {BOOLEAN_VALUE: data[2] != 0, ERROR_VALUE: ERRORS.get(data[2]), EMPTY_VALUE: ""}.get(data[0])


def constant(stream, at):
    value, is_error = stream[at : at + 2]
    return None if is_error else value != 0


def text_of(stream, at, characters):
    """Decodes the characters. Since Excel 97 a flag for two bytes per character precedes them."""
    if struct.unpack_from("<H", stream, 4) != (EXCEL_97,):
        return stream[at : at + characters].decode("cp1252", "replace")
    if stream[at] & 1:
        return stream[at + 1 : at + 1 + 2 * characters].decode("utf-16le", "replace")
    return stream[at + 1 : at + 1 + characters].decode("latin1")


def records(stream, offset):
    """Yields kind, start and end of the records from a BOF to its end, without those of embedded charts."""
    depth = 0
    while offset + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, offset)
        start = offset + 4
        offset = start + size
        depth += (kind == BOF) - (kind == END)
        if depth == 0 or offset > len(stream):
            return
        if depth == 1:
            yield kind, start, offset


def workbook_part(package):
    return next((target for kind, target in relationships(package, "") if kind == "officeDocument"), "xl/workbook.xml")


def xlsx_sheets(package, book):
    """Returns the sheets; their offset is the name of their part."""
    targets = {key: target for key, target in relationships(package, book, by_id=True)}
    sheets = []
    for element in ElementTree.fromstring(package.read(book)).iter():
        if local(element.tag) != "sheet":
            continue
        key = next((value for name, value in element.items() if local(name) == "id"), None)
        if targets.get(key) in package.NameToInfo:
            sheets.append(Sheet(element.get("name"), targets[key]))
    return sheets


def relationships(package, part, by_id=False):
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if path not in package.NameToInfo:
        return
    for element in ElementTree.fromstring(package.read(path)):
        key = element.get("Id") if by_id else element.get("Type", "").rpartition("/")[2]
        yield key, posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")


def xlsx_values(package, part, wanted):
    """Returns the values of the cells that are wanted, by row and column. Errors are texts."""
    values = {}
    with package.open(part) as file:
        for _event, element in ElementTree.iterparse(file):
            if local(element.tag) == "c":
                cell = position_of(element.get("r", ""))
                value = next((child.text for child in element if local(child.tag) == "v"), None)
                if cell in wanted and value is not None:
                    values[cell] = typed(element.get("t", "n"), value)
            elif local(element.tag) == "row":
                element.clear()
    return values


def typed(kind, text):
    if kind == "n":
        return float(text)
    if kind == "b":
        return text in ("1", "true")
    return text if kind in ("str", "e") else None


def position_of(reference):
    """Returns row and column, from 0, of a reference such as AB12."""
    letters = reference.rstrip("0123456789")
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    digits = reference[len(letters) :]
    return (int(digits) - 1 if digits else -1, column - 1)


def local(name):
    return name.rpartition("}")[2]
