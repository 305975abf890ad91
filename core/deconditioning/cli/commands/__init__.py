"""One file per command, here or in ``studies``; the command's name is the file's, with dashes for underscores.

Each defines ``HELP`` (one line), ``arguments(parser)`` and ``run(options) -> int | None``, imports heavy modules inside
``run``, and writes its results through ``deconditioning.cli.document``.
"""
