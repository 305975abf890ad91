"""The command line. A command is one file in ``core/deconditioning/cli/commands``; see ``cli.program``."""
