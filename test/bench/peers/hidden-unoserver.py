"""Starts unoserver so that it opens documents without a window, as the command line and Gotenberg do.

By itself it opens a visible window, in which LibreOffice 7.4 without a display crashes for spreadsheets
(vcl::Window::GetCursor, called by a timer).
"""

from unoserver import converter, server


class HiddenDesktop:
    """LibreOffice's desktop, which opens every document hidden."""

    def __init__(self, desktop):
        self.desktop = desktop

    def __getattr__(self, name):
        return getattr(self.desktop, name)

    def loadComponentFromURL(self, url, target, flags, properties):  # noqa: N802
        hidden = converter.PropertyValue(Name="Hidden", Value=True)
        return self.desktop.loadComponentFromURL(url, target, flags, (*properties, hidden))


connect = converter.UnoConverter.__init__


def connect_hidden(self, *args, **options):
    connect(self, *args, **options)
    self.desktop = HiddenDesktop(self.desktop)


converter.UnoConverter.__init__ = connect_hidden
server.main()
