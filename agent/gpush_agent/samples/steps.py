"""The step in a line of a training's output, however the program or its library prints it. Pure; the only place that knows the forms.
What is not sure is no step: a date, a version, an address, a size, an epoch alone, and what an evaluation counts."""
import collections
import re

MOST = 400                  # of a line: steps stand at its beginning

# `series`: what counts together; of one program's bars the one of the training and the one of the evaluation are two.
# `count`: over all epochs, if the line names its epoch. `step`, `total`, `epoch`: as they are printed, or None.
Step = collections.namedtuple("Step", "series count step total epoch")

COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x08+")
NUMBER = r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})"
WORDS = r"global[ _]?step|total_timesteps|num_updates|train(?:ing)?[ _/]?step|iteration|timestep|update|batch|step|iter|it(?=[:=])"
WORD = re.compile(
    r"(?<![\w.-])(" + WORDS + r")(?:\(train\))?[\"']?\s*[:=#|]?\s*[\[(]?\s*" + NUMBER + r"(?:\s*(?:/|of)\s*" + NUMBER + r")?"
    r"(?![\w%]|[.,:/-][0-9]|\s?(?:ms|s|sec|seconds?|it)\b)", re.I)
# "Train Epoch: 3 [7680/60000 (13%)]", "Epoch: [3][ 120/5005]", "Train: 0 [ 100/1251 (  8%)]", "Epoch(train) [1][ 50/1172]"
BRACKETS = re.compile(r"\b(?:epoch|train)(?:\(train\))?\W{0,4}([0-9]{1,6})\W{1,3}\[\s*([0-9]{1,12})\s*/\s*([0-9]{1,12})\b", re.I)
# "epoch 001:  10 / 100 loss=2.3"
FAIRSEQ = re.compile(r"\bepoch ([0-9]{1,6}):\s+([0-9]{1,12}) / ([0-9]{1,12})\b")
# tqdm: "Epoch 0:  12%|#2   | 120/1000 [00:10<01:13, 11.9it/s, loss=2]"; without a total: "120it [00:10, 11.9it/s]"
BAR = re.compile(r"(?:^|[:\s])\s*[0-9]{1,3}%\|[^|]*\|\s*([0-9]{1,12})/([0-9]{1,12})\s*\[[0-9:]+<[^,\]]*,\s*(?:[0-9.]+|\?)\s*"
                 r"(?:(?:it|steps?|batch(?:es)?|iters?)/s|s/(?:it|steps?|batch(?:es)?|iters?))\b")
ENDLESS = re.compile(r"(?:^|[:\s])([0-9]{1,12})it \[[0-9:]+, ")
KERAS = re.compile(r"^\s*([0-9]{1,12})/([0-9]{1,12})\s+(?:\[[=>.]+\]|[\u2501\u2500]+)\s")
EPOCH = re.compile(r"\bepoch\W{0,3}([0-9]{1,6})\b", re.I)
OTHERS = re.compile(r"(?<![a-z._/-])(?:val|valid|validation|validating|eval|evaluation|evaluating|test|testing|predict|predicting|prediction"
                    r"|sanity|download|downloading|loading|generating|map|filter|tokenizing)(?![a-z._-])", re.I)
DIGITS = re.compile(r"[0-9]+")


def step_of(line):
    """The Step in a line, or None."""
    text = COLOURS.sub("", line[:MOST])
    for form in (bar, bracket, word, keras):
        found = form(text)
        if found is not None:
            return found
    return None


def bar(text):
    match = BAR.search(text) or ENDLESS.search(text)
    if match is None or OTHERS.search(text, 0, match.start()):
        return None
    total = match.group(2) if match.re is BAR else None
    before = text[:match.start()]
    return made("bar " + DIGITS.sub("#", before.strip()), match.group(1), total, epoch_in(before))


def bracket(text):
    match = BRACKETS.search(text) or FAIRSEQ.search(text)
    if match is None or OTHERS.search(text, 0, match.start()):
        return None
    return made("epoch", match.group(2), match.group(3), match.group(1))


def word(text):
    match = WORD.search(text)
    if match is None or OTHERS.search(text, 0, match.start()):
        return None
    return made(match.group(1).lower(), match.group(2), match.group(3), epoch_in(text[:match.start()]))


def keras(text):
    match = KERAS.search(text)
    return made("keras", match.group(1), match.group(2), None) if match else None


def epoch_in(text):
    match = EPOCH.search(text)
    return match.group(1) if match else None


def made(series, step, total, epoch):
    step, total, epoch = [None if number is None else int(number.replace(",", "")) for number in (step, total, epoch)]
    if total is not None and step > total:
        return None
    count = step if total is None or epoch is None else epoch * total + step
    return Step((series, total), count, step, total, epoch)
