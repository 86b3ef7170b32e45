/**
 * The catalogue of views: the path behind `#/`, the title, `navigation` where the header names it
 * (`within`: the view that it names instead), and how its module is loaded on the first visit. A
 * module exports `render(context)`, which gives a node or a promise of one; context is
 * `{ parameters, query, signal }`, and the signal is aborted when the view is left.
 */
export const views = [
  { path: "try", title: "Try", navigation: true, load: () => import("./views/try/view.js") },
  { path: "table", title: "Table", navigation: true, load: () => import("./views/table/view.js") },
  { path: "evaluate", title: "Evaluate", navigation: true, load: () => import("./views/evaluate/view.js") },
  {
    path: "evaluations/:id", title: "Evaluation", within: "evaluate",
    load: () => import("./views/evaluations/view.js"),
  },
  { path: "compare/:a/:b", title: "Comparison", within: "evaluate", load: () => import("./views/compare/view.js") },
  {
    path: "leaderboard/:data", title: "Leaderboard", within: "evaluate",
    load: () => import("./views/compare/leaderboard.js"),
  },
  { path: "review", title: "Review", navigation: true, load: () => import("./views/review/view.js") },
  { path: "models", title: "Models", navigation: true, load: () => import("./views/models/list.js") },
  { path: "models/:name", title: "Model", load: () => import("./views/models/card.js") },
  { path: "models/:name/label/:label", title: "Label", load: () => import("./views/models/label.js") },
  { path: "docs", title: "API", navigation: true, load: () => import("./views/docs/view.js") },
];
