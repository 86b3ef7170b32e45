"""The papers' tables: what was published beside what this code gives. Catalogue by name."""

TABLES = {
    "yang-table4": "app.papers.tables.yang_table4:yang_table4",
    "yang-table6": "app.papers.tables.yang_table6:yang_table6",
    "pillai-table2": "app.papers.tables.pillai_table2:pillai_table2",
    "pillai-table3": "app.papers.tables.pillai_table3:pillai_table3",
    "pillai-table4": "app.papers.tables.pillai_table4:pillai_table4",
    "pillai-figure3": "app.papers.tables.pillai_figure3:pillai_figure3",
    "lewis": "app.papers.tables.lewis:lewis",
    "libmultilabel": "app.papers.tables.libmultilabel:libmultilabel",
}
