"""From scores to label sets. Catalogue of the decision rules; parser.py reads their names."""

RULES = {
    "zero": "app.decisions.rules.zero:Zero",
    "rank": "app.decisions.rules.rank_cut:RankCut",
    "micro-f": "app.decisions.rules.micro_f:MicroF",
    "macro-f": "app.decisions.rules.macro_f:MacroF",
    "both-f": "app.decisions.rules.both_f:BothF",
    "micromacro": "app.decisions.rules.micromacro:Micromacro",
    "micromacro-pooled": "app.decisions.rules.micromacro_pooled:MicromacroPooled",
    "cost": "app.decisions.rules.cost:Cost",
    "rank-above-cut": "app.decisions.rules.rank_above_cut:RankAboveCut",
    "proportion": "app.decisions.rules.proportion_cut:ProportionCut",
    "operating-point": "app.decisions.rules.operating_point:OperatingPointRule",
}
