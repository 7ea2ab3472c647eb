"""Trains the speak model from generated and written turns, and exports it.

    python -m tools.speak.train --base FOLDER --out out/speak [--without ada,...]

`--without` keeps more writers out of training, to judge on them. Blind writers (blind.txt) and held-out phrases never take
part. speak.onnx, speak.json, vocabulary.txt and lexical.npz in `--out` are the files that the package ships.
"""

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from tools.speak.data import Example, Row, examples, read, viewed, writers
from tools.speak.export import describe, export, save_lexical
from tools.speak.generate import generated
from tools.speak.network import LexicalNet, SpeakNet, pretrained
from tools.speak.noise import noisy
from tools.speak.scores import mode_scores, temperatures
from voiceagent.judgment.classifier.encoding import Encoder, described
from voiceagent.judgment.classifier.heads import NAMES, WIDTH

SEED = 20260
SMOOTH = 0.02
CALIBRATION = 9
"""Every ninth written turn is left out of training, for the temperatures."""


def vocabulary(base: Path, rows: list[Row], size: int) -> tuple[list[str], list[int]]:
    """The pieces that are kept, with their ids in the base: special ones, single signs, those of `rows`, then the most common."""
    pieces = (base / "vocab.txt").read_text(encoding="utf-8").split("\n")
    pieces = pieces[:-1] if pieces[-1] == "" else pieces
    full = Encoder(pieces)
    used: Counter[int] = Counter()
    for row in rows:
        seen = viewed(row)
        texts = [seen.last.text, *(line.text for line in seen.before), *described(seen)]
        for text in texts:
            used.update(full._ids(text))  # noqa: SLF001 - the same pieces as the encoder's own
    kept = [i for i, p in enumerate(pieces) if p in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]
    latin = [i for i, p in enumerate(pieces) if len(p.removeprefix("##")) == 1 and ord(p[-1]) < 0x250]
    often = [i for i, _ in used.most_common()]
    common = [i for i, p in enumerate(pieces) if p.removeprefix("##").isascii() and p.removeprefix("##").isalpha()]
    order = list(dict.fromkeys([*kept, *latin, *often, *common]))[:size]
    return [pieces[i] for i in order], order


def batches(data: list[Example], size: int, rng: random.Random) -> list[list[Example]]:
    """Shuffled batches of turns of about the same length."""
    order = sorted(data, key=lambda e: len(e.ids) + rng.random() * 8)
    cut = [order[i : i + size] for i in range(0, len(order), size)]
    rng.shuffle(cut)
    return cut


def tensors(batch: list[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """A batch padded to its longest turn: ids, kinds, features, mask, labels, directness."""
    longest = max(len(e.ids) for e in batch)
    ids, kinds = np.zeros((len(batch), longest), np.int64), np.ones((len(batch), longest), np.int64)
    mask = np.zeros((len(batch), longest), np.float32)
    for i, e in enumerate(batch):
        ids[i, : len(e.ids)], kinds[i, : len(e.ids)], mask[i, : len(e.ids)] = e.ids, e.kinds, 1.0
    parts = (ids, kinds, np.stack([e.features for e in batch]), mask, np.stack([e.labels for e in batch]))
    return (*map(torch.from_numpy, parts), torch.tensor([e.directness for e in batch]))


def loss(logits: Tensor, labels: Tensor, directness: Tensor) -> Tensor:
    """Binary cross-entropy on the labels that are known, and cross-entropy on directness."""
    known = (labels >= 0).float()
    target = labels.clamp(min=0).float() * (1 - 2 * SMOOTH) + SMOOTH
    yes_no = F.binary_cross_entropy_with_logits(logits[:, : len(NAMES)], target, reduction="none")
    total = (yes_no * known).sum() / len(labels)
    if (directness >= 0).any():
        total = total + F.cross_entropy(logits[:, len(NAMES) :], directness, ignore_index=-1, label_smoothing=SMOOTH)
    return total


def fit(net: torch.nn.Module, plan: list[list[Example]], *, rate: float, head_rate: float) -> None:
    """One pass over the planned batches with warm-up and a linear way down."""
    slow = [p for n, p in net.named_parameters() if not n.startswith(("lexical", "joined", "heads"))]
    fast = [p for n, p in net.named_parameters() if n.startswith(("lexical", "joined", "heads"))]
    steps, began = len(plan), time.monotonic()
    optimiser = torch.optim.AdamW(
        [{"params": slow, "lr": rate}, {"params": fast, "lr": head_rate}], weight_decay=0.01, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: min((s + 1) / (0.06 * steps), (steps - s) / (0.94 * steps)))
    net.train()
    for step, batch in enumerate(plan):
        ids, kinds, features, mask, labels, directness = tensors(batch)
        hidden = torch.rand(ids.shape) < 0.04
        ids = torch.where(hidden & (kinds == 1) & (ids > 4), torch.ones_like(ids), ids)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(ids, kinds, features, mask)
        found = loss(logits.float(), labels, directness)
        optimiser.zero_grad()
        found.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 100 == 0:
            print(f"step {step}/{steps} loss {found.item():.3f} {time.monotonic() - began:.0f} s", flush=True)


def fit_lexical(data: list[Example], width: int, epochs: int) -> LexicalNet:
    """The heads on the features alone."""
    net = LexicalNet(width, WIDTH)
    x = torch.from_numpy(np.stack([e.features for e in data]))
    y = torch.from_numpy(np.stack([e.labels for e in data]))
    d = torch.tensor([e.directness for e in data])
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.02)
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for place in range(0, len(x), 128):
            at = order[place : place + 128]
            found = loss(net(x[at]), y[at], d[at])
            optimiser.zero_grad()
            found.backward()
            optimiser.step()
    net.eval()
    return net


def logits_of(net: torch.nn.Module, data: list[Example]) -> NDArray[np.float32]:
    """The logits of every turn, in order."""
    net.eval()
    rows = []
    with torch.no_grad():
        for place in range(0, len(data), 32):
            ids, kinds, features, mask, _, _ = tensors(data[place : place + 32])
            rows.append((net(features) if isinstance(net, LexicalNet) else net(ids, kinds, features, mask)).numpy())
    return np.concatenate(rows)


def options() -> argparse.Namespace:
    """What a person may change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="the folder of all-MiniLM-L6-v2")
    parser.add_argument("--count", type=int, default=16_000, help="generated turns")
    parser.add_argument("--repeat", type=int, default=10, help="how often each written turn is seen, each time with other noise")
    parser.add_argument("--pieces", type=int, default=12_000, help="size of the vocabulary")
    parser.add_argument("--layers", default="0,1,2,3,4,5")
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--rate", type=float, default=1.2e-4)
    parser.add_argument("--start", type=Path, help="go on from the folder of an earlier run, with its vocabulary")
    parser.add_argument("--without", default="", help="writers to leave out and judge on, with commas")
    return parser.parse_args()


def main() -> None:
    """Trains, fits temperatures on what was left out, exports."""
    given = options()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # more than one spins where cores are shared
    rng = random.Random(SEED)
    away = set(given.without.split(","))
    files = [path for path in writers(blind_ones=False) if path.stem not in away]
    written = [row for path in files for row in read(path)]
    apart, written = written[::CALIBRATION], [row for place, row in enumerate(written) if place % CALIBRATION]
    judged = {path.stem: read(path) for path in writers(blind_ones=False) if path.stem in away}
    judged |= {"held-out": generated(600, SEED + 1, held_out=True), "apart": apart}
    made = generated(given.count, SEED)
    print("writers", [path.stem for path in files], len(written), "turns;", len(made), "generated", flush=True)
    pieces, order = vocabulary(given.base, made + written, given.pieces)
    if given.start:
        pieces = (given.start / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
        order = list(range(len(pieces)))
    encoder = Encoder(pieces)
    repeated = [noisy(row, rng) if place else row for row in written for place in range(given.repeat)]
    data = examples(made + repeated, encoder)
    print("mean length", np.mean([len(e.ids) for e in data]), flush=True)
    width = len(data[0].features)
    net = pretrained(given.base, order, width, WIDTH, [int(n) for n in given.layers.split(",")])
    if given.start:
        net.load_state_dict(torch.load(given.start / "speak.pt"))
    given.out.mkdir(parents=True, exist_ok=True)
    lexical = fit_lexical(data, width, 6)
    fit(net, batches(data, given.batch, rng), rate=given.rate, head_rate=8e-4)
    torch.save(net.state_dict(), given.out / "speak.pt")
    finish((net, lexical), pieces, judged, given.out)


def finish(nets: tuple[SpeakNet, LexicalNet], pieces: list[str], judged: dict[str, list[Row]], out: Path) -> None:
    """Temperatures, scores and files."""
    net, lexical = nets
    encoder = Encoder(pieces)
    seen = {name: examples(rows, encoder) for name, rows in judged.items()}
    few = len(seen["apart"])
    fitted = seen["apart"] + seen["held-out"][:few]
    temperature: dict[str, list[float]] = {}
    report: dict[str, dict[str, Any]] = {name: {} for name in judged}
    for kind, judge in (("temperatures", net), ("lexical_temperatures", lexical)):
        found = {name: logits_of(judge, some) for name, some in seen.items()}
        temperature[kind] = temperatures(np.concatenate([found["apart"], found["held-out"][:few]]), fitted)
        for name, rows in judged.items():
            report[name][kind.removesuffix("temperatures") or "model"] = mode_scores(found[name], rows)
    print(json.dumps(report, indent=1), flush=True)
    export(net, pieces, out)
    save_lexical(lexical, out)
    describe(out, temperature, report)


if __name__ == "__main__":
    main()
