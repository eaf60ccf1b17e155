"""The command ``treeform bench``: the protocols of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeform.bench import odd as protocol
from treeform.bench.tables import stability_table, table_one
from treeform.cli import options as opt
from treeform.cli.messages import command, err_console
from treeform.errors import SpecError

bench = typer.Typer(help="Benchmark protocols of the papers: resumable, in parallel, written as tables.")


@bench.callback()
def root() -> None:
    """Benchmark protocols of the papers: resumable, in parallel, written as tables."""


@bench.command()
@command
def odd(
    folder: Annotated[
        Path, typer.Argument(help="Folder of NAME.csv.gz tables with a column `target`.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Table to append to (CSV).")] = Path(
        "odd.csv"
    ),
    time_limit: Annotated[
        float, typer.Option(help="Seconds for one table, all alphas together.", min=0.1)
    ] = 60,
    jobs: Annotated[int, typer.Option(help="Ladders at once.", min=1)] = 1,
    sets: Annotated[str, typer.Option(help="Names with commas; all when left out.")] = "",
    splits: Annotated[str, typer.Option(help="Kinds of splits.")] = ",".join(protocol.SPLITS),
    skeletons: Annotated[str, typer.Option(help="Skeletons I to IV and the tree.")] = ",".join(
        protocol.SKELETONS
    ),
    seeds: Annotated[int, typer.Option(help="Seeds 0 to this number less one.", min=1)] = 5,
    stability: Annotated[
        str, typer.Option(help="Shares of (20), such as 0.05,0.1; none when left out.")
    ] = "",
    sample: Annotated[int | None, typer.Option(help="Draw so many tables at random.", min=1)] = None,
    draw: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
    each_run: Annotated[
        bool, typer.Option("--each-run", help="Then the time limit once more for each alpha left open.")
    ] = False,
    formulation: opt.FormulationName = None,
    solver: opt.SolverName = None,
    quiet: opt.Quiet = False,
    import_: opt.Import = None,
    debug: opt.Debug = False,
) -> None:
    """Decision diagrams (Florio et al., AAAI 2023): 50/25/25 splits, skeletons, alphas; prints the paper's Table 1.

    What the output has already is not run again, so that a run can be stopped and taken up.
    """
    if not folder.is_dir():
        raise SpecError(f"{folder} is no folder", fix="name the folder that holds the tables")
    wanted = protocol.jobs_of(
        folder,
        sets=_names(sets),
        splits=_names(splits),
        skeletons=_names(skeletons),
        seeds=range(seeds),
        stabilities=_names(stability) or ("",),
        sample=sample,
        draw=draw,
    )
    how = {"formulation": formulation, "solver": solver, "each_run": each_run}
    done = protocol.run(wanted, folder, output, time_limit=time_limit, parallel=jobs, **how)
    for number, job in enumerate(done, 1):
        if not quiet:
            err_console().print(f"{number}: {' '.join(job.key)}", highlight=False)
    keys = {job.key for job in wanted}
    rows = [row for row in protocol.read_rows(output) if protocol.job_of(row).key in keys]
    print(stability_table(rows) if stability else table_one(rows))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
