"""Changes what a document shows of its file and of its editing before it is stored."""

from com.sun.star.text.FilenameDisplayFormat import FULL, NAME_AND_EXT, PATH

# Texts of the headers and footers of a page style of a spreadsheet.
PAGE_CONTENTS = [
    f"{side}Page{part}Content" for side in ("Left", "Right", "First") for part in ("Header", "Footer")
]


def hide_folder(document):
    """Has fields for the path of the file show its name alone: the folder is the private one of the conversion."""
    if document.supportsService("com.sun.star.text.TextDocument"):
        fields = document.getTextFields()
        if hide_paths(fields, lambda field: field.dispose()):
            fields.refresh()
    elif document.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
        styles = document.getStyleFamilies().getByName("PageStyles")
        for index in range(styles.getCount()):
            hide_in_page_style(styles.getByIndex(index))


def hide_in_page_style(style):
    for name in PAGE_CONTENTS:
        content = style.getPropertyValue(name)
        texts = (content.LeftText, content.CenterText, content.RightText) if content else ()
        # The whole list: each text is changed.
        if any([hide_paths(text.getTextFields(), text.removeTextContent) for text in texts]):
            style.setPropertyValue(name, content)


def hide_paths(fields, remove):
    """Returns whether a field was changed."""
    shown = [field for field in elements(fields) if shows_file_name(field) and field.FileFormat in (FULL, PATH)]
    for field in shown:
        if field.FileFormat == PATH:
            remove(field)
        else:
            field.FileFormat = NAME_AND_EXT
    return bool(shown)


def shows_file_name(field):
    """Returns whether a field shows the name of this file. The text of a fixed field is from its author."""
    has = field.getPropertySetInfo().hasPropertyByName
    if not has("FileFormat") or field.supportsService("com.sun.star.text.TextField.TemplateName"):
        return False
    return not (has("IsFixed") and field.IsFixed)


def elements(container):
    """Returns the elements as a list: an enumeration may end when one of them is removed."""
    found, enumeration = [], container.createEnumeration()
    while enumeration.hasMoreElements():
        found.append(enumeration.nextElement())
    return found


def accept_changes(document, dispatcher):
    """Accepts all tracked changes. The document must not be read-only."""
    if document.supportsService("com.sun.star.text.TextDocument") and document.getRedlines().hasElements():
        frame = document.getCurrentController().getFrame()
        dispatcher.executeDispatch(frame, ".uno:AcceptAllTrackedChanges", "", 0, ())
