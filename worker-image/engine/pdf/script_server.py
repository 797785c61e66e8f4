"""Runs the scripts of this folder in processes that are forked from this one, which has loaded their libraries.

usage: script_server.py

Standard input: a request per line, as JSON: {"script": NAME, "args": [TEXT…], "directory": PATH}.
Standard output: a response per line, as JSON: {"exitCode": NUMBER, "stdout": TEXT, "stderr": TEXT}.

One request at a time. The server itself opens no file of a request, so that a hostile file finds nothing of an earlier one.
"""

import gc
import json
import os
import runpy
import selectors
import sys
import traceback

# Isolated mode (-I) does not search the directory of the script.
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True

from forked import end_with_parent

# Maximum number of bytes of each stream in a response; the rest is read and dropped. The reader accepts lines of 64 KiB,
# and JSON takes up to six characters for a byte.
KEPT_BYTES = 5000
READ_BYTES = 64 * 1024


def load_libraries() -> None:
    """Imports what the scripts import, with what Pillow and PDFium load when they read a first file."""
    import compact_objects
    import compare_files
    import font_subsetting
    import pdfium
    import png_writer
    import rewrite_images
    import uharfbuzz
    from PIL import Image, Jpeg2KImagePlugin

    Image.preinit()
    pdfium.load_fonts()
    # A collection in a forked process would copy the pages of all these objects.
    gc.freeze()


def serve() -> None:
    for line in sys.stdin:
        response = run(json.loads(line))
        sys.stdout.write(json.dumps(response) + "\n")
        sys.stdout.flush()


def run(request: dict) -> dict:
    """Runs a script to its end in a process of its own."""
    stdout, stderr = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        run_forked(request, stdout[1], stderr[1])
    os.close(stdout[1])
    os.close(stderr[1])
    texts = read_both(stdout[0], stderr[0])
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return {"exitCode": code if code >= 0 else 128 - code, "stdout": texts[0], "stderr": texts[1]}


def run_forked(request: dict, stdout: int, stderr: int) -> None:
    code = 1
    try:
        end_with_parent()
        for given, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (stdout, 1), (stderr, 2)):
            os.dup2(given, standard)
        os.chdir(request["directory"])
        os.environ.update(HOME=request["directory"], TMPDIR=request["directory"])
        path = os.path.join(FOLDER, f"{request['script']}.py")
        sys.argv = [path, *request["args"]]
        runpy.run_path(path, run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def read_both(*pipes: int) -> list[str]:
    """Reads pipes to their ends and closes them. Returns the first bytes of each as text."""
    kept = {pipe: bytearray() for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, READ_BYTES)
                kept[key.fd] += data[: KEPT_BYTES - len(kept[key.fd])]
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [bytes(data).decode("utf-8", "replace") for data in kept.values()]


if __name__ == "__main__":
    load_libraries()
    serve()
