"""English function words: articles, pronouns, prepositions, conjunctions, auxiliaries, adverbs."""

WORDS = """
    a an the this that these those
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose which what whoever whatever whichever one oneself each other another
    anybody anyone anything everybody everyone everything nobody none nothing somebody someone
    something
    about above across after against along among amongst around as at before behind below beneath
    beside besides between beyond by concerning despite down during except for from in inside into
    like near of off on onto out outside over past per regarding since than through throughout till
    to toward towards under underneath until unto up upon via with within without
    and but or nor so yet if unless because although though whereas while whether either neither
    both when whenever where wherever why how however
    am is are was were be been being do does did doing done have has had having
    can could may might must shall should will would ought
    not no never always ever often also too very just only even still already again almost quite
    rather perhaps maybe here there then thus hence therefore now once soon later else instead
    otherwise indeed
    all any every few many more most much several some such own same less least enough
    ll ve re don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn
"""

ENGLISH = frozenset(WORDS.split())
