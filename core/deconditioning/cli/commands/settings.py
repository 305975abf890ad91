"""``deconditioning settings``: the settings of a study as a JSON schema."""

import argparse
import json

from deconditioning.cli.talk import clean_stdout

HELP = "print the settings of a study, with defaults and ranges, as a JSON schema"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "study",
        metavar="STUDY",
        help="downscale, or the name of a study; an unknown name lists all studies",
    )


def run(options: argparse.Namespace) -> None:
    """Print the schema of what `sweep --study STUDY --set` takes, or of the settings of a downscaling."""
    with clean_stdout():
        from deconditioning.downscaling.settings import DownscaleSettings
        from deconditioning.settings.settings import schema
        from deconditioning.studies.sweeping import study_of

        if options.study == "downscale":
            result = schema("Downscaling", DownscaleSettings.declared())
        else:
            study = study_of(options.study)
            result = schema(study.title, study.settings)
    print(json.dumps(result, indent=1, ensure_ascii=False))
