"""``deconditioning settings``: the settings of a study as a JSON schema."""

import argparse
import json

from deconditioning.cli.talk import stdout_kept_clean

HELP = "list the settings of a study, with defaults and ends, as a JSON schema"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("study", metavar="STUDY", help="such as kernel-bayes; any other name is answered with them all")


def run(options: argparse.Namespace) -> None:
    """Print the schema of what `sweep --study STUDY --set` takes."""
    with stdout_kept_clean():
        from deconditioning.settings.settings import schema
        from deconditioning.studies.sweeping import study_of

        study = study_of(options.study)
        found = schema(study.title, study.declared)
    print(json.dumps(found, indent=1, ensure_ascii=False))
