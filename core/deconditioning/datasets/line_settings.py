"""The settings of the one-dimensional problem, which its page, its command and its sweeps share."""

from deconditioning.settings.setting import Integer, Linear
from deconditioning.settings.settings import Settings
from deconditioning.settings.wider import Text

#: r and f to choose from; the first of each is the paper's.
SIMULATIONS = ("3*sin(y)*cos(y/4) + y/4", "y/2", "2*sin(y)", "y^2/6 - 3", "3*tanh(y)", "abs(y) - 3")
TARGETS = ("sin(2*x) + 0.5*x*cos(x)", "x", "sin(3*x)", "2*exp(-x^2)", "abs(x)", "sign(x)", "tanh(4*x) + x/4")


class LineProblem(Settings):
    """Two data sets that share no points, and the functions behind them."""

    prefix = "o"

    n = Integer("n, pairs (x, y)", 200, low=1, high=400, log=True, draws=True, about="pairs (x, y)",
                plain="How many simulated pairs",
                plain_help="n, the number of pairs (x, y) in the first data set.")  # fmt: skip
    m = Integer("m, pairs (y, z)", 200, low=1, high=400, log=True, draws=True, about="pairs (y, z)")
    simulation = Text("Simulation r(y)", SIMULATIONS[0], offered=SIMULATIONS, address="o-r", sweep=False, symbol="EXPR",
                      about="r as an expression in y")  # fmt: skip
    target = Text("Hidden function f(x)", TARGETS[0], offered=TARGETS, address="o-f", sweep=False, symbol="EXPR",
                  about="f as an expression in x")  # fmt: skip
    input_noise = Linear("Noise of x (sd)", 0.25, low=0.0, high=2.0, step=0.05, draws=True, address="o-eta",
                         about="sd of x around r(y)")  # fmt: skip
    target_noise = Linear("Noise of z (sd)", 0.25, low=0.0, high=2.0, step=0.05, draws=True, address="o-xi",
                          about="sd of z around f(x)")  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)
    first_edits = Text("Points of data set 1 by hand", "", sweep=False, symbol="EDITS",
                       about="pairs (y, x) changed by hand, such as m12_1.5_-0.25d7a0.5_2")  # fmt: skip
    second_edits = Text("Points of data set 2 by hand", "", sweep=False, symbol="EDITS",
                        about="pairs (y, z) changed by hand, such as m12_1.5_-0.25d7a0.5_2")  # fmt: skip
