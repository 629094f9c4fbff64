extension RedFlag {
    private static let ofMind = "confused|drowsy|sleepy|delirious|mumbling|rambling|unconscious|twitching|fitting"

    /// Causes of emergencies, with signs that are harmless alone.
    static let causes = causesWithSeveralSigns + causesWithOneSign

    private static let causesWithSeveralSigns: [(words: Set<String>, signs: [String])] = [
        // Gases and fire.
        (
            [
                "boiler", "monoxide", "generator", "barbecue", "fumes", "exhaust", "co", "stove", "heater", "alarm",
            ],
            ["\(ofMind)|dizzy|faint|staggering", "head|heads|headache|headaches & sick|thumping|pounding|all|both"]
        ),
        (
            [
                "stove", "fire", "pan", "chip", "grill", "flames", "burned", "burnt", "burn", "burns", "explosion",
                "exploded", "petrol",
                "smoke",
                "oil", "fryer", "bonfire", "kettle", "boiling",
            ],
            [
                "raspy|hoarse|soot|sooty|singed|charred",
                "blistered|blistering|peeling & back|chest|face|neck|arms|legs|all",
                "skin & coming|off|white|hanging", "white|leathery & peeling|hurt|chest|arms|arm",
            ]
        ),
        (
            [
                "cable", "socket", "wire", "wires", "mains", "electric", "electricity", "shock", "pylon", "lightning",
                "fusebox", "voltage",
            ],
            ["thrown", "charred", "heart & place|racing|fluttering|funny|skipping", "burn|burns & hand|hands|exit"]
        ),
        // Venom and allergens.
        (
            [
                "snake", "snakebite", "copperhead", "cobra", "viper", "adder", "rattlesnake", "rattler", "krait",
                "scorpion", "jellyfish", "saanp", "fang", "fangs", "mamba", "widow",
            ],
            [
                "swelling|swelling's|swollen|swelled & up|past|knee|elbow|spreading|arm|leg|whole", "tingly|tingling",
                "eyelids|drooping|droopy", "bit|bitten|got & just|now|hour|minutes|today", "spreading",
            ]
        ),
        (
            [
                "stung", "sting", "wasp", "bee", "bees", "hornet", "peanut", "peanuts", "nuts", "cashew", "sesame",
                "cookie", "cookies", "cake", "curry", "satay", "biscuit",
                "prawn",
                "prawns", "shrimp", "shellfish", "antibiotic", "penicillin", "amoxicillin", "epipen", "latex", "almond",
                "cashews", "walnut", "injection", "egg", "kiwi", "contrast", "vaccine",
            ],
            [
                "hives|welts|wheals & all|covered|whole|everywhere|over|spreading|wheezing|breath|sick",
                "voice & hoarse|gone|funny|croaky|squeaky", "lips|face|eyes & twice|double|three & size",
                "lips|lip|tongue|eyes|face|mouth & swelling|swollen|puffy|puffed|puffing|fat|huge|tingling|tingly|itching|big",
                "throat & itchy|itching|scratchy|lump|tight|funny|thick|close|swelling",
                "wheezing|wheezy|faint|collapsing",
                "dizzy & itchy|rash|hives|red|blotchy",
            ]
        ),
        // Medicines and poisons.
        (
            ["insulin", "diabetic", "diabetes", "hypo", "ketones", "sugar", "sugars", "glucose"],
            [
                ofMind, "soaking|drenched|sweating & mumbling|shaking|can't|wet|through|confused|pale",
                "can't|cannot|couldn't|won't & drink|swallow|juice|down|keep",
                "wrong|double|ten|twice & insulin|times|dose",
                "breathing & fast|deep|heavy|hard", "breath & fruity|sweets|pear|nail|acetone",
            ]
        ),
        (
            [
                "swallow", "swallowed", "took", "taken", "ate", "eaten", "drank", "drunk", "chewed", "sucked", "gulped",
                "licked", "pills", "tablets",
            ],
            [
                "whole|entire & strip|bottle|packet|box|pack|lot|jar|tub",
                "sixteen|twenty|thirty|forty|fifty|sixty & paracetamol|tablets|pills|tylenol|aspirin|ibuprofen",
                "all of & tablets|pills|them|it & paracetamol|tylenol|mum's|gran's|grandma's|blood|heart|iron",
                "battery|batteries|magnets",
                "detergent|bleach|antifreeze|pesticide|descaler|turpentine|methanol|paraquat",
            ]
        ),
        (
            [
                "warfarin", "thinners", "thinner", "apixaban", "rivaroxaban", "ladder", "knocked", "fell", "fall",
                "crash",
                "banged", "hit", "punched", "concussion", "stairs", "horse", "scooter", "kicked",
            ],
            [
                "vomiting|vomited & over|keeps|times|twice|drowsy|since|now", "same question|questions|thing",
                "\(ofMind) & since|now|getting|more",
                "pupil|pupils", "clear|watery & nose|ear|ears", "seeing & double", "asking ~ where|what & happened|is",
                "headache & worse|worsening|awful|splitting & drowsy|sick|vomiting|confused",
            ]
        ),
        // Infection.
        (
            ["fever", "temperature", "feverish", "rigors", "shivering", "forty", "thirty-nine", "headache"],
            [
                "chin & down|chest", "doesn't|don't & know & day|where|who|year|name",
                "light|lights & hurts|hurt|can't|stand|bear",
                "spots|rash & fade|fading|vanish|pressed|glass|purple|bruise|bruises|spreading",
                "hands|feet|skin & cold|icy|mottled|blotchy|blue", "fast|pounding|racing & confused|breathing",
                "peed|urine|urinated|wee & hasn't|haven't|no|not|since",
            ]
        ),
        // Harm to oneself and to others.
        (
            [
                "hurt", "harm", "suicide", "suicidal", "yourself", "kill", "killing", "die", "dying", "goodbye",
                "letters",
                "gun", "pills", "rope", "jump", "plan", "end",
            ],
            [
                "bridge|ledge|tracks|platform|rooftop|cliff & now|at|on|standing|sitting|here",
                "letters|letter|notes|will & written|wrote|left",
                "got|have|bought|loaded & gun|pistol|rifle|rope|blade|razor", "say|said|saying|wanted & goodbye",
                "pills|tablets & counted|lined|saved|ready|front|stash|collected", "tonight & do|end|doing|plan|it",
            ]
        ),
        (
            ["voices", "voice", "god", "devil", "messages", "they"],
            [
                "tell|telling|say|says|saying|told|tells & knife|kill|hurt|stab|jump|burn|die",
                "knife|gun & mum|mom|dad|wife|husband|neighbour|them|him|her",
                "poisoning|poisons|poison & me|kill|stab",
            ]
        ),
        // Pregnancy.
        (
            [
                "pregnant", "pregnancy", "trimester", "positive", "weeks", "ectopic", "miscarriage", "midwife",
                "labour",
                "labor", "bump", "birth", "delivered", "delivery", "postpartum", "caesarean",
            ],
            [
                "pain & side|shoulder & sharp|bad|terrible|sudden|stabbing|one|bleeding",
                "bleeding & pain|heavy|heavily|faint|dizzy|everything|clots",
                "soaked|soaking|soaks|filling & pad|pads|towel|sheets|bed", "everything & black|dark",
                "vision & blurry|spots|sparkles|flashing|stars",
                "headache & swelling|swollen|spots|vision|lights|face", "waters & green|brown|gone|broke|cord", "cord",
                "shoulder & tip|pain|hurts & faint|bleeding|dizzy",
            ]
        ),
        // After operations.
        (
            [
                "tonsils", "tonsillectomy", "surgery", "operation", "stitches", "operated", "biopsy", "extraction",
                "tooth",
                "dialysis", "fistula", "varicose",
            ],
            [
                "pouring|gushing|spurting|pumping|squirting",
                "bleeding & stop|swallowing|bowl|cup|lot|soaked|through|won't|keeps",
                "swallowing & blood|it", "filling & bowl|basin|cup|bucket|sink", "calf & breath|breathless|chest",
            ]
        ),
        // Blood clots.
        (
            ["calf", "flight", "flew", "cast", "clot", "pill", "contraceptive", "plane", "surgery"],
            ["breath|breathless|breathing & suddenly|sudden|can't|out|catch|sharp|chest", "coughing|coughed & blood"]
        ),
        // The scrotum, in other words.
        (
            ["down", "groin", "balls", "ball", "privates", "bollock", "nut", "testicle", "testicles", "boys"],
            [
                "agony|agonising|agonizing|unbearable|excruciating & sudden|suddenly|sick|hours|hour|woke|vomiting|high|up",
                "pulled|riding|drawn|twisted & up|high|higher & sick|pain|agony",
            ]
        ),
        // The spine.
        (
            ["back", "sciatica", "disc", "spine"],
            [
                "can't|cannot|couldn't|haven't|hasn't|unable & pee|wee|peed|urinate|urine|toilet",
                "saddle & dead|numb|area|feeling", "legs & jelly",
                "numb & bum|bottom|crotch|saddle|groin|privates|seat|wiping|wipe",
                "wet|soiled|messed & myself|himself|herself|pants|without",
                "legs & numb|weak|buckling|giving|going|dead|jelly",
            ]
        ),
        // Small children.
        (
            [
                "baby", "newborn", "infant", "toddler", "little", "months", "weeks", "daughter", "son", "days", "child",
            ],
            [
                "floppy|limp|unrousable|mottled|lifeless",
                "gone|going|went|turned|funny & grey|gray|blue|white|purple|pale|colour|color & floppy|limp|breathing|lips",
                "can't|not|isn't|stopped & chest|ribs|tummy & up|moving|rising|going|see",
                "won't|not|isn't|stopped|hasn't & feed|feeding|drink|fed & sleepy|drowsy|wake|floppy|nappy|nappies|hours",
                "high-pitched|shrill & cry|crying|scream",
                "cot|crib|bath|pool|pond|bathtub & blue|breathing|face|found|under",
                "marble|coin|grape|lego|bead & stuck|choking|breathe|throat|cough",
            ]
        ),
        // Clinicians, who dictate.
        (
            [
                "male", "female", "patient", "examination", "exam", "year", "ecg", "ekg", "sats", "obs", "resus",
                "pupil",
                "gcs", "calling", "transfer", "activating",
            ],
            [
                "st elevation|elevations", "cath lab",
                "gcs & three|four|five|six|seven|eight|3|4|5|6|7|8|dropping|falling",
                "pupil|pupils & fixed|dilated|unequal|blown", "posturing", "peri-arrest|asystole|pulseless|agonal",
                "hypotensive|tachycardic|unresponsive & rigid|lactate|septic|shock|bleeding|mass|clammy|confused",
                "rigid|guarding & abdomen|belly", "pulsatile & mass|abdomen", "ventricular & tachycardia|fibrillation",
                "septic|haemorrhagic|hemorrhagic|anaphylactic|cardiogenic & shock", "crushing & central|discomfort",
                "tension & pneumothorax", "complete & heart|block", "status & epilepticus|asthmaticus",
                "dissection|ruptured & aorta|aortic|aneurysm",
            ]
        ),
        // Heat and cold.
        (
            ["heat", "hot", "sun", "sauna", "sweating", "marathon", "snow", "freezing", "ice", "cold"],
            [
                "rubbish|nonsense|gibberish & talking|talks|speaking", "stopped & sweating|shivering|shaking",
                "\(ofMind) & hot|cold|out|now",
            ]
        ),
        // Low defences.
        (
            [
                "chemo", "chemotherapy", "neutropenic", "transplant", "immunosuppressed", "spleen", "leukaemia",
                "leukemia",
            ],
            ["fever|temperature|shaking|shivering|rigors|thermometer", "39|40|38|thirty-eight|thirty-nine|forty"]
        ),
        // Withdrawal.
        (
            ["drinking", "alcohol", "drink", "vodka", "detox", "withdrawal", "xanax", "benzos", "diazepam"],
            [
                "seeing|hearing & spiders|things|insects|bugs|people|snakes",
                "shaking & sweating|soaked|racing|seeing|confused",
            ]
        ),
        // Pre-eclampsia.
        (
            ["pregnant", "weeks", "midwife", "trimester", "bump", "baby", "waters"],
            [
                "head|headache & splitting|pounding|awful|terrible|worst & lights|flashing|spots|vision|ribs",
                "ribs & right|under & head|headache|lights|vision", "loop|rope|hanging & out|hanging|down",
            ]
        ),
        // The eye.
        (
            ["eye", "eyes"],
            [
                "cleaner|chemical|chemicals|acid|alkali|bleach|lime|cement|ammonia|plaster & splashed|went|got|in|into|burning",
                "open & can't|cannot|won't & burning|splashed",
            ]
        ),
        // Water and airways.
        (
            ["under", "underwater", "water", "pool", "lake", "sea", "pond", "bath", "river"],
            [
                "minutes|minute|seconds & under & kid|child|boy|girl|son|daughter|he|she|was",
                "pulled|dragged & out & blue|breathing|sleepy|coughing",
            ]
        ),
        (
            ["wrong", "stuck", "food", "grape", "sweet", "bone", "swallow", "choke", "choking", "eating"],
            ["sound|noise & not|no|isn't|can't", "face|lips & purple|blue|red", "hit & back & him|her|me"]
        ),
        // A stroke, in other words.
        (
            ["suddenly", "sudden", "dropped", "breakfast", "minutes", "hour", "fine", "half", "woke"],
            [
                "arm|leg|hand & hangs|hanging|useless|dead|heavy|limp|weak", "through & looking|staring & straight|me",
                "nowhere & head & hit|bat|back|worst", "worst & had|ever & neck|head|stiff",
            ]
        ),
        // The heart, in other words.
        (
            [
                "chest", "breastbone", "jaw", "arm", "heartburn", "indigestion", "sternum", "seene", "ribs",
            ],
            [
                "sweat|sweating|sweaty|clammy|grey|gray|ashen & pouring|cold|soaked|drenched|jaw|arm|chest|pale|looks|gone",
                "going|goes|spreading|spreads|shooting|radiating|into|down & jaw|arm|back|shoulder|neck & tight|heavy|pressure|squeezing|crushing|ache|band|pain",
                "fist & chest", "anvil|brick|bricks|elephant|boulder|truck|lorry|vice|clamp",
            ]
        ),
    ]
}
