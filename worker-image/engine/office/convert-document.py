"""UNO job that LibreOffice runs at its start: waits for one document, converts it and ends the process.

The job only asks for a call by the main loop: at its own time some parts of LibreOffice are not set up, such as the
writers of image formats.

Standard input: one line of fields, separated by tabs: URL of the document, import filter, URL of the output, export
filter. A filter is NAME or NAME:OPTIONS; with an empty import filter LibreOffice detects the type.
Standard output: the line "ready" once the job runs.
Exit codes: 0 the output is stored; 1 it is not; 2 standard input ended without a document.

FACTORY in the environment names a kind of document ("swriter"). An empty one is opened and closed while no document has
come, so that LibreOffice has loaded the code and the fonts of that kind.
"""
import os
import select
import sys
import traceback

import uno
import unohelper
from com.sun.star.awt import XCallback
from com.sun.star.beans import PropertyValue
from com.sun.star.task import XJob

# The loader of LibreOffice does not search the directory of the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

WORKBOOKS = (".xls", ".xlsx", ".xlsm")
TARGETS_WITH_FORMULAS = (".xlsx", ".ods")
MAX_WORKBOOK_BYTES = 256 * 1024**2

# Flags of com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA
CELL_CONTENTS = 1 | 2 | 4 | 16

STORED, NOT_STORED, NO_DOCUMENT = 0, 1, 2


class ConvertDocument(unohelper.Base, XJob, XCallback):
    def __init__(self, context):
        self.context = context

    def execute(self, _arguments):
        self.create("com.sun.star.awt.AsyncCallback").addCallback(self, None)

    def notify(self, _data):
        code = NOT_STORED
        try:
            code = self.convert_one()
        except Exception:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            # A shutdown writes settings and frees memory for a tenth of a conversion's time.
            os._exit(code)

    def convert_one(self):
        remove_socket_files()
        os.write(1, b"ready\n")
        desktop = self.create("com.sun.star.frame.Desktop")
        factory = os.environ.get("FACTORY", "")
        if factory and not select.select([0], [], [], 0)[0]:
            load(desktop, "private:factory/" + factory, Hidden=True, Silent=True).close(True)
        line = sys.stdin.readline().rstrip("\n")
        if not line:
            return NO_DOCUMENT
        source, import_filter, target, export_filter = line.split("\t")
        # The properties of a conversion by command line. Cells of a read-only document cannot be formatted.
        document = load(
            desktop,
            source,
            Referer="private:OpenEvent",
            ReadOnly=not source.endswith(".xls"),
            OpenNewView=True,
            Hidden=True,
            Silent=True,
            **filter_properties(import_filter),
        )
        if document is None:
            return NOT_STORED
        if source.endswith(WORKBOOKS):
            self.restore_values(document, source, target.endswith(TARGETS_WITH_FORMULAS))
            if not target.endswith(".xlsx"):
                correct_dates(document, target.endswith(TARGETS_WITH_FORMULAS))
        if target.endswith(".csv"):
            move_first_worksheet(document.getSheets())
        document.storeToURL(target, properties(Overwrite=True, **filter_properties(export_filter)))
        return STORED

    def restore_values(self, document, source, has_formulas):
        try:
            from cached_values import replace_xls_formulas, replace_xlsx_formulas, restore_booleans

            if source.endswith((".xlsx", ".xlsm")):
                if not has_formulas:
                    replace_xlsx_formulas(document, uno.fileUrlToSystemPath(source))
                return
            stream = self.read_xls(source)
            if stream is not None:
                restore_booleans(document, stream)
                if not has_formulas:
                    replace_xls_formulas(document, stream)
        except Exception:
            # The document is converted as LibreOffice imported it.
            traceback.print_exc()

    def read_xls(self, source):
        """Returns the stream of an Excel 5 to 2003 workbook; None for other versions."""
        file = self.create("com.sun.star.ucb.SimpleFileAccess").openFileRead(source)
        storage = self.create("com.sun.star.embed.OLESimpleStorage", file)
        name = next((name for name in ("Workbook", "Book") if storage.hasByName(name)), None)
        if name is None:
            return None
        return storage.getByName(name).getInputStream().readBytes(None, MAX_WORKBOOK_BYTES)[1].value

    def create(self, service, *arguments):
        manager = self.context.ServiceManager
        if arguments:
            return manager.createInstanceWithArgumentsAndContext(service, arguments, self.context)
        return manager.createInstanceWithContext(service, self.context)


def load(desktop, url, **values):
    return desktop.loadComponentFromURL(url, "_blank", 0, properties(**values))


def correct_dates(document, has_formulas):
    try:
        from early_dates import correct_early_dates

        correct_early_dates(document, has_formulas)
    except Exception:
        # The document is converted as LibreOffice imported it.
        traceback.print_exc()


def move_first_worksheet(sheets):
    """Moves the first visible worksheet before hidden sheets and chart sheets: the CSV filter writes the first sheet."""
    for index in range(sheets.getCount()):
        sheet = sheets.getByIndex(index)
        if sheet.IsVisible and not is_chart_sheet(sheet):
            if index > 0:
                sheets.moveByName(sheet.getName(), 0)
            return


def is_chart_sheet(sheet):
    """Returns whether a sheet has charts and no cells: LibreOffice imports chart sheets so."""
    if not sheet.getCharts().hasElements():
        return False
    return not sheet.queryContentCells(CELL_CONTENTS).hasElements()


def filter_properties(text):
    name, _, options = text.partition(":")
    return {key: value for key, value in (("FilterName", name), ("FilterOptions", options)) if value}


def properties(**values):
    return tuple(PropertyValue(Name=name, Value=value) for name, value in values.items())


def remove_socket_files():
    """Removes the name in /tmp on which LibreOffice listens for a second start of itself: it is left by os._exit."""
    try:
        with open("/proc/net/unix", encoding="utf-8") as file:
            names = {int(row[6]): row[7] for row in map(str.split, file) if len(row) > 7 and row[6].isdigit()}
        for descriptor in os.listdir("/proc/self/fd"):
            path = names.get(socket_inode(descriptor))
            if path is not None and path.startswith("/tmp/"):
                os.unlink(path)
    except OSError:
        # A sandbox shows no sockets, and refuses to create any.
        return


def socket_inode(descriptor):
    """Returns the inode of an open socket; None for a descriptor of another kind, or a closed one."""
    try:
        return os.fstat(int(descriptor)).st_ino
    except OSError:
        return None


g_ImplementationHelper = unohelper.ImplementationHelper()
g_ImplementationHelper.addImplementation(ConvertDocument, "dev.mediajobs.ConvertDocument", ("com.sun.star.task.Job",))
