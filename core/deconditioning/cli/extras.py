"""The extra of `pip install 'deconditioning[…]'` that provides a missing package."""

from importlib.metadata import PackageNotFoundError, requires

#: Packages that are imported by another name than they are installed by.
_INSTALLED_AS = {"pptx": "python-pptx"}


def missing_extra(error: ModuleNotFoundError) -> str:
    """Message for a missing package of an extra; "" for any other package."""
    from packaging.requirements import Requirement

    package = (error.name or "").partition(".")[0]
    try:
        needed = [Requirement(line) for line in requires("deconditioning") or ()]
    except PackageNotFoundError:
        return ""
    for each in needed:
        if each.name.lower() == _INSTALLED_AS.get(package, package) and each.marker is not None:
            extra = str(each.marker).rpartition(" ")[2].strip("'\"")
            return f"This needs {package}, which is not installed: pip install 'deconditioning[{extra}]'."
    return ""
