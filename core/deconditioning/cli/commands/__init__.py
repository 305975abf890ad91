"""One file a command, here or in ``studies``: its name is the file's, with dashes for underscores.

Each defines ``HELP`` (one line), ``arguments(parser)`` and ``run(options) -> int | None``, imports what is heavy
inside ``run``, and writes its results through ``deconditioning.cli.document``.
"""
