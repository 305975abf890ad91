"""The named models: what they are called."""

from deconditioning.models.catalogue import MODELS


def test_a_model_is_named_inside_a_sentence_with_the_capitals_of_names_only() -> None:
    phrases = {name: model.phrase for name, model in MODELS.items()}
    assert phrases["bag_gp"] == "bag Gaussian process"
    assert phrases["centroid_gp"] == "Gaussian process on centroids"
    assert phrases["vbagg"] == "variational bag Gaussian process (VBAgg)"
    assert all("gaussian" not in phrase for phrase in phrases.values())
