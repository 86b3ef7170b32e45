"""From features to scores. Catalogue by name; each learner loads on first use."""

LEARNERS = {
    "one-vs-rest": "app.learners.one_vs_rest:OneVsRest",
    "cost-sensitive": "app.learners.cost_sensitive:CostSensitive",
    "cost-sensitive-micro": "app.learners.cost_sensitive:CostSensitiveMicro",
    "tree": "app.learners.tree.tree:Tree",
    "binary-and-multiclass": "app.learners.binary_and_multiclass:BinaryAndMulticlass",
    "mlp": "app.learners.neural.mlp:Mlp",
    "kim-cnn": "app.learners.neural.kim_cnn:KimCnn",
    "xml-cnn": "app.learners.neural.xml_cnn:XmlCnn",
    "cnn-lwan": "app.learners.neural.cnn_lwan:CnnLwan",
    "bigru-lwan": "app.learners.neural.bigru_lwan:BigruLwan",
    "bilstm-lwan": "app.learners.neural.bilstm_lwan:BilstmLwan",
    "caml": "app.learners.neural.caml:Caml",
    "attention-xml": "app.learners.neural.attention_xml:AttentionXml",
    "transformer": "app.learners.neural.transformer:Transformer",
}
