"""UNO job that LibreOffice runs at its start: forks a process for each document, which converts it and ends.

The job only asks for a call by the main loop: at its own time some parts of LibreOffice are not set up, such as the
writers of image formats.

Standard input: a request per line, fields separated by tabs: directory, factory, URL of the document, import filter, URL
of the output, export filter. The directory becomes the working directory of the process. A factory names a kind of
document ("swriter"). A filter is NAME or NAME:OPTIONS; with an empty import filter LibreOffice detects the type.
Standard output: the line "ready" once the job runs, then a response per line, as JSON: {"exitCode": NUMBER, "stdout": "",
"stderr": ""}. Exit codes: 0 the output is stored; 1 it is not; 128 + n the process was ended by signal n.

FACTORY in the environment names the kind of the first document. An empty one is opened and closed while no document has
come, so that LibreOffice has loaded the code and the fonts of that kind. Otherwise this process opens no
document, unless it cannot fork: then it converts one and ends.
"""
import ctypes
import json
import os
import re
import select
import shutil
import signal
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
OPEN_DOCUMENT_SHEETS = (".ods", ".fods")
TARGETS_WITH_FORMULAS = (".xlsx", ".ods")
# Targets in which deleted text would be like any other.
TARGETS_WITHOUT_CHANGES = (".txt", ".html")
MAX_WORKBOOK_BYTES = 256 * 1024**2

# Flags of com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA
CELL_CONTENTS = 1 | 2 | 4 | 16

# Folder of temporary files, which LibreOffice names and creates at its start.
TEMPORARY_FOLDER = re.compile(r"lu\w+\.tmp")

STORED, NOT_STORED = 0, 1

# Options of prctl(2)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36

# The main thread, and one that accepts a second start of the program, which holds no lock. A sandbox has only the first.
MAX_THREADS = 2
# Functions of libc and of LibreOffice.
PROGRAM = ctypes.CDLL(None)
MUTEX_FUNCTIONS = ("_ZN11Application17ReleaseSolarMutexEv", "_ZN11Application17AcquireSolarMutexEj")


class ConvertDocument(unohelper.Base, XJob, XCallback):
    def __init__(self, context):
        self.context = context
        # Factories that a document came for.
        self.seen = set()
        # Factories whose code is loaded.
        self.loaded = set()

    def execute(self, _arguments):
        self.create("com.sun.star.awt.AsyncCallback").addCallback(self, None)

    def notify(self, _data):
        try:
            self.serve()
        except BaseException:
            traceback.print_exc()
        finally:
            # A shutdown writes settings and frees memory for a tenth of a conversion's time.
            exit_at_once(0)

    def serve(self):
        self.threads = count_threads()
        remove_socket_files()
        PROGRAM.prctl(PR_SET_CHILD_SUBREAPER, 1)
        # A process of a document cannot open the descriptors and the memory of this one below /proc.
        PROGRAM.prctl(PR_SET_DUMPABLE, 0)
        factory = os.environ.get("FACTORY", "")
        if factory and not select.select([0], [], [], 0)[0]:
            self.load_code(factory)
        self.folders = [name for name in os.listdir() if TEMPORARY_FOLDER.fullmatch(name)]
        shutil.rmtree(os.getcwd())
        os.write(1, b"ready\n")
        for line in sys.stdin:
            request = line.rstrip("\n").split("\t")
            self.prepare(request[1])
            if not self.can_fork():
                respond(self.run_here(*request))
                return
            respond(self.run(request))

    def prepare(self, factory):
        """Loads the code of a kind for which a second document has come: one alone would wait for it."""
        if factory in self.seen and factory not in self.loaded:
            self.load_code(factory)
        self.seen.add(factory)

    def load_code(self, factory):
        self.loaded.add(factory)
        self.load("private:factory/" + factory, Hidden=True, Silent=True).close(True)

    def can_fork(self):
        """Returns whether a forked process can go on: locks of threads that it does not have would stay locked."""
        return count_threads() == self.threads <= MAX_THREADS and all(hasattr(PROGRAM, name) for name in MUTEX_FUNCTIONS)

    def run(self, request):
        """Converts a document in a process of its own. Returns its exit code."""
        sys.stderr.flush()
        pid = fork()
        if pid == 0:
            self.run_forked(*request)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        end_descendants()
        return code if code >= 0 else 128 - code

    def run_forked(self, *request):
        code = NOT_STORED
        try:
            PROGRAM.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            null = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1):
                os.dup2(null, standard)
            code = self.run_here(*request)
        finally:
            exit_at_once(code)

    def run_here(self, directory, _factory, *conversion):
        try:
            os.chdir(directory)
            for name in self.folders:
                os.mkdir(name)
            return self.convert(*conversion)
        except BaseException:
            traceback.print_exc()
            return NOT_STORED

    def convert(self, source, import_filter, target, export_filter):
        # The properties of a conversion by command line. A read-only document cannot be changed like one that is edited.
        typed_ranges = read_types(source) if source.endswith(OPEN_DOCUMENT_SHEETS) else []
        document = self.load(
            source,
            Referer="private:OpenEvent",
            ReadOnly=not (typed_ranges or source.endswith(".xls") or target.endswith(TARGETS_WITHOUT_CHANGES)),
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
        if typed_ranges:
            restore_types(document, typed_ranges)
        if target.endswith(".csv"):
            move_first_worksheet(document.getSheets())
        self.change_text(document, target)
        document.storeToURL(target, properties(Overwrite=True, **filter_properties(export_filter)))
        return STORED

    def load(self, url, **values):
        return self.create("com.sun.star.frame.Desktop").loadComponentFromURL(url, "_blank", 0, properties(**values))

    def restore_values(self, document, source, has_formulas):
        try:
            from cached_values import replace_xls_formulas, restore_booleans, restore_xlsx_values

            if source.endswith((".xlsx", ".xlsm")):
                restore_xlsx_values(document, uno.fileUrlToSystemPath(source), has_formulas)
                return
            stream = self.read_xls(source)
            if stream is not None:
                restore_booleans(document, stream)
                if not has_formulas:
                    replace_xls_formulas(document, stream)
        except Exception:
            # The document is converted as LibreOffice imported it.
            traceback.print_exc()

    def change_text(self, document, target):
        try:
            from document_text import accept_changes, hide_folder

            hide_folder(document)
            if target.endswith(TARGETS_WITHOUT_CHANGES):
                accept_changes(document, self.create("com.sun.star.frame.DispatchHelper"))
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


def exit_at_once(code):
    """Exits even if standard error, which documents share, was closed by one of them."""
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)


def respond(code):
    os.write(1, json.dumps({"exitCode": code, "stdout": "", "stderr": ""}).encode() + b"\n")


def count_threads():
    """Returns the number of threads, from the number of links of a directory: a sandbox may refuse to list it."""
    return os.stat("/proc/self/task").st_nlink - 2


def fork():
    """Forks without LibreOffice's mutex, which a process with another thread id could neither acquire nor release."""
    release, acquire = (getattr(PROGRAM, name) for name in MUTEX_FUNCTIONS)
    count = release()
    try:
        return os.fork()
    finally:
        acquire(count)


def end_descendants():
    """Ends what a document's process has started: this process is the parent of what is left.

    Raises OSError where a sandbox hides it, as Landlock does: then this process ends without a response, and its owner
    ends everything.
    """
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                for pid in children():
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="utf-8") as file:
        return [int(pid) for pid in file.read().split()]


def correct_dates(document, has_formulas):
    try:
        from early_dates import correct_early_dates

        correct_early_dates(document, has_formulas)
    except Exception:
        # The document is converted as LibreOffice imported it.
        traceback.print_exc()


def read_types(source):
    try:
        from typed_cells import read_typed_ranges

        return read_typed_ranges(uno.fileUrlToSystemPath(source))
    except Exception:
        # The document is converted as LibreOffice imports it.
        traceback.print_exc()
        return []


def restore_types(document, typed_ranges):
    try:
        from typed_cells import format_typed_ranges

        format_typed_ranges(document, typed_ranges)
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
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
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
