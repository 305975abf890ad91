"""The command line. A command is one file in ``core/deconditioning/cli/commands``; see ``cli.program``."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command (those of ``sys.argv`` if none are given) and return its exit code, as `cli.program.main`."""
    from deconditioning.cli import program

    return program.main(arguments)
