"""The command line. Each command is one file in ``core/deconditioning/cli/commands``; see ``cli.program``."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command (by default that of ``sys.argv``) and return its exit code; see `cli.program.main`."""
    from deconditioning.cli import program

    return program.main(arguments)
