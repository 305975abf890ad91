"""Own files given to page Downscaling in AppTest, through its dialog."""

from streamlit.testing.v1 import AppTest

from pages.kit.session import Key


def offered(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Open the dialog and choose these files, by name and bytes."""
    if Key.OWN_FILE not in page.session_state:
        page.button(key="lab-own-file").click().run()
    return page.file_uploader(key="files").set_value([(*file, "application/x-netcdf") for file in files]).run()


def downscaled(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Choose these files and accept what is guessed."""
    return offered(page, *files).button(key="lab-own-go").click().run()
