"""The report on an autoscale formula: its results, its variables, the lines that decide."""

from dataclasses import replace

from shared.domain.explain.autoscale_formula import formula_sentences, target_lines
from shared.domain.explain.pool_size import larger
from shared.domain.pools.pool_settings import AutoScale
from tests.domain.explain.made_evidence import FACTS, NOW

FORMULA = """// $TargetDedicatedNodes = 99; is no more
/* nor is
   $TargetDedicatedNodes = 98; */
wanted = min(4, $PendingTasks.GetSample(1));

$TargetDedicatedNodes =
    wanted; $TargetLowPriorityNodes = $PreemptedNodeCount > 0 ? 1 : 0;
$NodeDeallocationOption = taskcompletion;"""


def test_the_lines_that_decide_are_those_that_set_a_target() -> None:
    assert target_lines(FORMULA) == [
        (6, "$TargetDedicatedNodes = wanted;"),
        (7, "$TargetLowPriorityNodes = $PreemptedNodeCount > 0 ? 1 : 0;"),
    ]
    assert target_lines("") == []
    assert len(target_lines(f"$TargetDedicatedNodes = {'1 + ' * 900}1")[0][1]) < 310


def test_advice_on_a_pool_with_a_formula_shows_its_results_inputs_and_lines() -> None:
    scale = AutoScale(FORMULA, "PT5M", NOW, "$TargetDedicatedNodes=1;$TargetLowPriorityNodes=0;wanted=1")
    sentences = formula_sentences(replace(FACTS, auto_scale=scale))
    assert sentences == (
        " Batch refuses to resize a pool that has a formula. Its last evaluation gave $TargetDedicatedNodes=1, "
        "$TargetLowPriorityNodes=0, wanted=1. It reads $PendingTasks, $PreemptedNodeCount. "
        "What decides is line 6, '$TargetDedicatedNodes = wanted;' and line 7, '$TargetLowPriorityNodes = "
        "$PreemptedNodeCount > 0 ? 1 : 0;'."
    )
    assert "formula" in larger(replace(FACTS, auto_scale=scale))
    assert (formula_sentences(FACTS), larger(FACTS)) == ("", "make the pool larger")


def test_variables_that_a_formula_makes_itself_are_none_that_it_reads() -> None:
    formula = """$samples = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5); /* $ActiveTasks */
    $tasks = $samples == 100 ? avg($RunningTasks.GetSample(1)) : 0;
    $TargetDedicatedNodes = min($CurrentDedicatedNodes + 1, $tasks);"""
    sentences = formula_sentences(replace(FACTS, auto_scale=AutoScale(formula, "PT5M", NOW)))
    assert " It reads $PendingTasks, $RunningTasks, $CurrentDedicatedNodes. " in sentences
