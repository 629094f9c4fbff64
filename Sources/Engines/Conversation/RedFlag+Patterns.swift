import ScribeDomain

extension RedFlag {
    private static let unable = "can't|cannot|cant|couldn't|unable|barely|hardly|scarcely|struggling|struggle"
    private static let own = "my|his|her|your|the|their"

    static let emergencies = [
        // Breathing.
        "\(unable) ~ breathe|breath|air",
        "trouble|difficulty|problems|hard|gasping|fighting ~ breathe|breathing|breath|air",
        "not|stopped|isn't|stops|aren't breathing", "turning|turned|going|gone|went|looks|is blue", "lips ~ blue",
        "choking",
        "saans nahi|nahin|nahee", "saans ~ taklif|takleef|dikkat|ruk|phool", "dam ghut", "सांस ~ नहीं|तकलीफ|दिक्कत",
        // The heart.
        "chest ~ pain|hurts|hurting|tight|tightness|tightening|pressure|crushed|crushing|squeezing|heavy|ache|aching|dard",
        "crushing|squeezing|tightness|pain|pains|elephant|ache|hurts ~ chest",
        "pressure|weight in|on|across|over|behind ~ chest", "crushing chest",
        "having|have|had a|another heart attack", "seene|chhati|chaati|seena ~ dard|dabav|jalan", "सीने|छाती ~ दर्द",
        // The brain.
        "face|mouth|smile ~ drooping|droops|droopy|drooped|dropped|sagging|lopsided|crooked",
        "drooping|droopy|lopsided face|mouth|smile",
        "\(unable) ~ move|lift|raise|feel ~ arm|arms|leg|legs|side|hand|face",
        "arm|leg|hand|side ~ weak|paralysed|paralyzed|limp|floppy", "arm|leg|side|face ~ numb",
        "weakness ~ side|arm|leg", "numb ~ side", "one sided weakness", "one side of \(own) body|face",
        "speech|words|talking ~ slurred|slurring|slurry|gibberish|jumbled|funny|wrong|garbled",
        "slurred|slurring|garbled",
        "having a stroke", "can't|cannot speak|talk", "worst headache|headaches", "worst ~ headache", "thunderclap",
        "headache ~ worst", "suddenly|sudden ~ blind|vision|see", "\(unable) see anything",
        "having|has|had|in a seizure|fit|convulsion|convulsions", "seizing|convulsing|fitting",
        "seizure|fit|jerking ~ stop|stopped|minutes",
        "\(own) neck ~ stiff ~ light|rash|fever", "stiff neck ~ rash|light|fever", "fever ~ stiff neck",
        "rash ~ fade|glass|purple|spots", "purple ~ rash|spots",
        // Awareness.
        "unresponsive|unconscious|collapsed|behosh", "not|isn't|won't|stopped responding|waking|moving|respond",
        "won't|can't|cannot ~ wake|waken|rouse", "passed|passing|blacked|blacking out",
        "no pulse",
        "floppy|limp ~ baby|breathing|blue",
        "baby|he|she|he's|she's ~ floppy|limp", "hosh nahi", "बेहोश",
        // Allergy.
        "throat ~ swelling|closing|closed|tightening|swelled", "tongue|lips ~ swelling|swollen|swelled|swell|puffing",
        "anaphylaxis|anaphylactic", "face ~ swelling up", "swelling|swollen ~ tongue|throat|lips",
        // Harm.
        "kill|killing|hurt|hurting|harm|harming|cutting|cut myself|yourself|himself|herself",
        "end|ending|ended ~ life|all|everything",
        "suicidal|suicide", "want|wants|wanted|wanting|wish to die|dead", "wish ~ dead|die|born",
        "don't|doesn't|didn't|not ~ want|wanna ~ live|living|alive|exist|wake|here",
        "better off dead|without", "take|taking my|his|her own life", "no reason|point ~ live|living|going on",
        "life ~ worth living", "not worth living", "can't|cannot go on", "jump|jumping off|front|from",
        "say goodbye ~ pills|everyone",
        "marna chahta|chahti|chahte", "marne ka|ka mann", "jeena nahi|nahin", "jaan dena|de", "मरना चाहता|चाहती",
        "took|taken|swallowed|drank|drunk|ate|eaten ~ bottle|handful|packet|box|strip|bleach|poison|battery|detergent|pesticide|kerosene|antifreeze|overdose",
        "took|taken|swallowed ~ all|many|much|twenty|thirty|forty|fifty ~ pills|tablets|paracetamol|medicine|insulin|medication",
        "overdosed", "took ~ overdose", "zeher|zehar", "drank|swallowed ~ cleaner|cleaning|acid",
        // Blood.
        "heavy|severe|massive bleeding", "bleeding ~ heavily|lot|badly|stop|everywhere|profusely|through|buckets",
        "won't|can't|cannot|doesn't|not stop|stopping ~ bleeding|blood",
        "blood ~ everywhere|gushing|pouring|spurting|pumping|stop",
        "soaking|soaked|soaks ~ pad|pads|towel|towels|hour",
        "vomiting|vomited|throwing|threw|coughing|coughed|bringing ~ blood",
        "khoon ~ ruk|band|bahut|ulti",
        "haven't|hasn't felt ~ baby move|moving", "baby ~ stopped moving",
        // Other wordings.
        "lips|tongue|face|throat|throat's|tongue's ~ blown|huge|ballooned|puffed|closing|enormous",
        "chest ~ tearing|ripping|gripping|vice|squeezing|squeezed", "elephant ~ sitting|chest",
        "hang|hanging|shoot|shooting|drown|drowning|stab|stabbing|burn myself|himself|herself",
        "end|ending it|everything|things tonight|all|now|once|myself", "bought ~ rope", "noose",
        "written|wrote ~ goodbye", "don't|doesn't feel safe", "voices ~ kill|die|hurt|jump",
        "gun|knife|rope|pills ~ myself|ready", "slumped|lifeless|keeled", "isn't|not|won't|stopped answering|answer",
        "hasn't|haven't|not come|coming|came round", "spurting|gushing|haemorrhaging|hemorrhaging",
        "bleeding|blood ~ legs|thighs", "bleeding ~ clots|fist", "towels|pads ~ soaked", "soaked ~ towels|pads",
        "through ~ towels",
        "drunk|eaten|licked|gulped|drank ~ cleaner|bleach|antifreeze|weedkiller|tablets|pills|battery",
        "agony|agonising|agonizing|severe|excruciating ~ testicle|testicles|ball|balls",
        "testicle|testicles ~ riding|nowhere|sick", "arm|leg gone|went|is|was|feels|felt dead|limp|useless",
        "can't|cannot|couldn't ~ words out", "words ~ jumbled|muddled|slurred", "half ~ smile|goes up",
        "jerking|fitting ~ again|stop|blue", "foaming|frothing ~ mouth", "seizures ~ row|back|another",
        "vision|sight ~ gone|lost|curtain|black", "lost|losing my|his|her|the vision|sight",
        "curtain ~ eye|vision", "lips|fingernails ~ blue|grey|gray|purple",
        "he|she|he's|she's|baby gone|went|turned|going|turning|looks grey|gray|blue|purple|mottled",
        "coffee grounds", "can't|cannot swallow ~ saliva|spit|drooling", "drooling ~ breathe|breathing",
        "been|got|was stabbed", "been|was shot",
        "hit|banged|bumped|cracked ~ head ~ vomiting|sick|vomited|drowsy|sleepy|confused|unconscious",
        "contractions|waters|labour|labor ~ bleeding|green", "baby ~ blue|limp",
        "confused|rambling|delirious ~ shivering|fever|temperature|mottled", "breath ~ pear|fruity|acetone",
        "stomach|belly|tummy ~ rigid", "went|gone stiff|rigid ~ shaking|eyes", "eyes ~ rolled",
        "swallowed ~ magnets|magnet|coin", "pulse ~ gone|thready", "heart ~ stopped",
        "can't|cannot|couldn't|unable pee|urinate ~ legs|numb", "numb ~ saddle|groin|bottom",
        "burnt|burned ~ face|airway",
        // Other conditions.
        "sudden|suddenly ~ testicle|testicular|ball|balls|groin", "testicle|testicular ~ sudden|suddenly|agony|severe",
        "sugar|diabetic|diabetes ~ vomiting|throwing|confused|drowsy",
        "confused ~ vomiting|diabetic|fever|shivering|shaking",
        "fever|temperature ~ confused|mottled|drowsy|delirious|floppy", "mottled", "cold and clammy", "bone ~ sticking",
        "struck by lightning", "electrocuted", "drowned|drowning", "snake ~ bit|bitten", "bitten|bit ~ snake",
        "saanp ~ kaat|kata",
    ]

    private static let another = "he|she|he's|she's|him|her|baby|newborn|son|daughter|husband|wife|words|speech"

    /// Patterns of emergencies whose words may come in any order.
    static let signs = [
        // The heart and the great vessels.
        "clutching|clutches|grabbing & chest", "band|belt|vice|tightness|heaviness & chest|breastbone",
        "pressure behind|on|across|over ~ chest|breastbone",
        "chest & like & sitting|standing|sat|stood|parked|band", "feel|feels & like & dying",
        "pressing|presses|pushing|sits & on & chest", "dangerous & rhythm", "chest & paining",
        "cold|drenched & sweat & chest|arm|jaw", "heart & won't & slow", "pulsing|pulsating & tummy|belly|stomach|lump",
        "about|going to pass out", "about to faint|collapse",
        "oxygen|saturation|sats & seventy|eighty|70|75|80|81|82|83|84|85",
        "tearing|ripping & back|chest|shoulder|belly|stomach", "cardiac arrest", "no heartbeat", "doing cpr",
        // The brain.
        "\(another) & not|isn't|doesn't|don't|no|stopped & make|making & sense",
        "\(another) & talks|talking|speaking|says & nonsense|gibberish|gobbledegook",
        "face|mouth|cheek|smile|chehra|munh & fallen|dropped|drooping|sagging|twisted|tedha|teda|crooked",
        "half & face|body & moved|moves|moving|working|droops|numb|weak",
        "pupil|pupils & bigger|larger|different|uneven",
        "fluid & ear|nose & fell|fall|hit", "headache & hammer|explosion|explode|exploded|lightning",
        "neck & bend|stiff & light|fever|temperature", "double & vision|seeing & walk|spinning|speech|weak",
        "not|isn't|stopped|won't & opening|open & eyes", "fell|fallen & not|isn't|stopped & moving",
        "zubaan|zuban|awaaz & ladkhada|lad|tutla", "aadha|aadhi & sharir|badan",
        "shutter|curtain|blind & came|down|over & eye|vision",
        "didn't|doesn't|hasn't & come|coming|came & round & minutes|fainted|still|yet",
        "went|gone|suddenly|woke & blind", "vision|sight|eye & suddenly|sudden & lost|gone|black|blind|curtain",
        "worst & headache & ever|life|had", "headache & came|hit|struck & second|seconds|instantly|bang",
        "having ~ stroke", "suddenly & confused|paralysed|paralyzed|collapsed", "worst & pain & life",
        "daura|daure", "daura|daure & ruk & nahi|nahin", "most painful headache", "leg|arm|foot|hand & no & feeling",
        "life & isn't|not|no|never & worth", "lakwa|lakva|लकवा", "दौरा|दौरे", "चेहरा|मुंह & टेढ़ा|टेढा",
        // Breathing.
        "not|isn't|no & able & breathe|speak|move|swallow", "breathing problem|difficulty|trouble",
        "breathing|breathes & strangely|strange|odd|shallow|gasps", "can't|cannot|couldn't cough|cry|breathe",
        "wrong & way & cough|cry|breathe|choking|blue", "underwater & minutes|breathing|found",
        "ribs|chest|tummy & sucking|sucked|sucks", "breathing|breathes & really|very|so & fast|rapidly|quickly",
        "can't|cannot|couldn't|unable|only & finish|complete|get & sentence|sentences|word|words",
        "inhaler|nebuliser|inhaler's & touching|working|work|helping & not|isn't|no|nothing",
        "wheezing|breathless|gasping & badly|word|sentence|talk|speak", "noise & breathes|breathing & in", "stridor",
        "drooling & swallow|noise|throat|fever", "smoke & filled|inhaled|fire", "asthma & attack & bad|severe|worse",
        "सांस|साँस & रुक|फूल|घुट|नहीं|तकलीफ़", "saans & nahi|nahin & aa|le|pa",
        // Awareness.
        "can't|cannot|couldn't wake him|her|them", "get him|her|them to wake|respond",
        "doesn't|won't|not|isn't & wake|wakes|waking & shake|shook|shout|properly|feed",
        "hard|difficult|impossible to wake|rouse",
        "hosh & nahi|nahin", "होश & नहीं",
        // Harm to oneself.
        "thinking|thoughts|thought|about & ending & things|it",
        "everyone|everybody|they|family|world & better & off & without|gone|if|dead",
        "reason|point to|in carry|carrying|live|living", "can't|cannot ~ reason|point ~ carry|live|go|keep",
        "cut|cutting|slit|slash|slashed & wrist|wrists|veins",
        "keep & myself|himself|herself & safe & can't|cannot|don't|not",
        "self-harm|self-harming|self-harmed & again|today|tonight|now", "khudkushi|aatmahatya|आत्महत्या|खुदकुशी",
        "standing|sitting & bridge|ledge|tracks|roof",
        "no & point|reason & me|in & being|living|life|here", "disappear|vanish & for & good|ever",
        "written|wrote & note|goodbye & family|kids|children|parents",
        "thoughts & crashing|driving & car|purpose", "crash|crashing & on & purpose",
        "hurt|harm|hurting|harming|shake|smother & my & baby|son|daughter|child|children|kids",
        "saving|stockpiling|hoarding|hiding & tablets|pills", "zindagi|jindagi & khatam|khatm", "apni & jaan",
        // Poison.
        "drank|drunk|swallowed|ate & under & sink",
        "got|getting & into & pills|tablets|medicine|medicines|cleaner|bleach",
        "swallowed|took|taken & load|loads|heap|bunch|packets & pills|tablets",
        "took|taken|taking & ecstasy|heroin|fentanyl|cocaine|mdma",
        "goliyan|goliyaan|golian & kha|khaa", "poison|poisoned & taken|took|drank|ate|eaten|swallowed|rat",
        "ate|eaten|swallowed some|one|two|three|all|several|lots|half ~ tablets|pills|capsules|medicine",
        "injected|taken|took|given & too & much|many & insulin|tablets|paracetamol|pills|doses|morphine",
        "eye|eyes & bleach|acid|chemical|chemicals|ammonia|cement", "ज़हर|जहर", "gas & leak & smell|dizzy|headache",
        // Blood and injuries.
        "blood & squirting|pumping|pouring|gushing|spurting", "black & tar", "tarry & stools|stool|poo|black",
        "bleeding & so|too & much", "bleeding & nonstop|constantly|pads",
        "clots & fist|golf|lemon|size|passing & pad|bleeding|size|fist|baby",
        "toilet ~ blood", "just|only|all blood", "bahut|zyada|jyada & khoon & beh|nikal|gir",
        "fingers|finger|toes|thumb & off & are|is|came|cut",
        "caught & saw|machine|grinder|mower", "see & bone", "firework|grenade|explosion & face|hand|hands|off",
        "kettle|boiling|oil|acid & over|on & herself|himself|myself|her|him|skin|face", "touched & live & wire",
        "severed|amputated", "finger|thumb|hand|toe|foot & cut|chopped|sliced|torn & off", "bone & poking|sticking",
        "got|had & electric|electrical & shock & from|socket|fell|wire", "hit|run & by|over & car|bus|truck|lorry",
        "slit ~ wrists|wrist", "fell & roof|balcony|window|height",
        "burned|burnt|scalded & chest|face|whole|badly|body|neck|toddler|baby|son|daughter",
        "leg|foot|arm|hand & cold & white|pale|blue", "khoon & nahi|nahin & ruk", "खून & नहीं & रुक",
        "सांप|साँप & काट|काटा|डस", "impaled",
        // The belly, bladder and spine.
        "numb|numbness & between & legs", "saddle & numb|numbness|dead",
        "can't|cannot|couldn't|unable & pass|pee|urinate|wee & water|urine|all|hours|numb",
        "can't|cannot|lost & control & bladder|bowel|bowels & legs|numb|back|weak", "curled & floor|ball & pain",
        "belly|stomach|tummy|abdomen & hard|rigid|solid & board|rock|stand",
        "agony & stomach|belly|tummy|abdomen|back|side",
        // Pregnancy and small children.
        "baby & hasn't|not|isn't|stopped & moved|moving|kicking|kicked|move", "cord & see|feel|out|hanging|waters",
        "baby|baby's & coming & now", "baby|baby's & head|foot|arm & coming|out", "head & crowning",
        "rash & glass|press|pressed & not|doesn't|won't|isn't|still",
        "skin & blotchy|mottled|grey", "bulging & fontanelle|spot",
        "no|not|hasn't & wet & nappy|nappies|diaper|diapers",
        "eyes|face|lips & swelling|swelled|swollen & shut|throat|breathing|antibiotic|antibiotics|nut|nuts",
        "tongue & big|bigger|huge|thick & mouth", "allergic reaction ~ severe|breathing|throat",
        "throat & tight|tighter|closing|lump & peanut|nut|nuts|prawn|sting|injection|bee|wasp",
    ]

    /// Patterns that mean an emergency only beside a word of another clause.
    static let combined: [(beside: Set<String>, flag: RedFlag)] = causes.flatMap { cause in
        cause.signs.map { (cause.words, RedFlag($0, .emergency)) }
    }

    static let urgencies = [
        "shortness of breath", "short of breath", "severe pain|headache", "severe abdominal pain", "high fever",
        "stiff neck",
        "blood in ~ urine|stool|pee|poo|stools", "fainted|fainting", "confused|confusion",
    ]
}
