import ScribeDomain

/// A pattern of words that stands for an emergency or something urgent.
///
/// Written as words with a space between; `|` separates alternatives, and `~` stands for up to four words of any kind:
/// `throat ~ swelling|closing`.
struct RedFlag: Sendable {
    private enum Element {
        case word(Set<String>)
        case gap
    }

    /// In words.
    private static let longestGap = 4

    let level: Urgency.Level
    private let elements: [Element]
    /// Words with which it may begin.
    let beginnings: Set<String>

    init(_ pattern: String, _ level: Urgency.Level) {
        self.level = level
        elements = pattern.split(separator: " ").map { part in
            part == "~" ? .gap : .word(Set(part.split(separator: "|").map(String.init)))
        }
        beginnings =
            switch elements.first {
            case .word(let words): words
            case .gap, nil: []
            }
    }

    /// Where it ends if it begins at `position`; nil where it does not.
    func end(in words: [String], at position: Int, before limit: Int) -> Int? {
        end(elements[...], words, position, limit)
    }

    private func end(_ rest: ArraySlice<Element>, _ words: [String], _ position: Int, _ limit: Int) -> Int? {
        guard let element = rest.first else { return position }
        switch element {
        case .word(let alternatives):
            guard position < limit, alternatives.contains(words[position]) else { return nil }
            return end(rest.dropFirst(), words, position + 1, limit)
        case .gap:
            for skipped in 0...Self.longestGap {
                if let end = end(rest.dropFirst(), words, position + skipped, limit) { return end }
            }
            return nil
        }
    }
}

extension RedFlag {
    /// All of them by the words with which they may begin.
    static let byBeginning: [String: [RedFlag]] = {
        var found: [String: [RedFlag]] = [:]
        for flag in emergencies.map({ RedFlag($0, .emergency) }) + urgencies.map({ RedFlag($0, .urgent) }) {
            for word in flag.beginnings { found[word, default: []].append(flag) }
        }
        return found
    }()

    /// The words with which any begins.
    static let beginnings = Set(byBeginning.keys).union(combined.flatMap(\.flag.beginnings))

    private static let unable = "can't|cannot|cant|couldn't|unable|barely|hardly|scarcely|struggling|struggle"
    private static let own = "my|his|her|your|the|their"

    private static let emergencies = [
        // Breathing.
        "\(unable) ~ breathe|breath|air",
        "trouble|difficulty|problems|hard|gasping|fighting ~ breathe|breathing|breath|air",
        "not|stopped|isn't|stops|aren't breathing", "turning|turned|going|gone|went|looks|is blue", "lips ~ blue",
        "choking",
        "saans nahi|nahin|nahee", "saans ~ taklif|takleef|dikkat|ruk|phool", "dam ghut", "सांस ~ नहीं|तकलीफ|दिक्कत",
        // The heart.
        "chest ~ pain|hurts|hurting|tight|tightness|tightening|pressure|crushed|crushing|squeezing|heavy|ache|aching|dard",
        "crushing|squeezing|pressure|tightness|pain|pains|elephant|weight|ache|hurts ~ chest", "crushing chest",
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
        "won't|can't|cannot ~ wake|waken|rouse", "passed|passing|blacked|blacking out", "no pulse",
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
        // Said in other ways.
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
        "testicle|testicles ~ riding|nowhere|sick", "arm|leg ~ dead|limp|useless",
        "can't|cannot|couldn't ~ words out", "words ~ jumbled|muddled|slurred", "half ~ smile|goes up",
        "jerking|fitting ~ again|stop|blue", "foaming|frothing ~ mouth", "seizures ~ row|back|another",
        "carbon monoxide", "vision|sight ~ gone|lost|curtain|black", "lost|losing my|his|her|the vision|sight",
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
        // The rest.
        "sudden|suddenly ~ testicle|testicular|ball|balls|groin", "testicle|testicular ~ sudden|suddenly|agony|severe",
        "sugar|diabetic|diabetes ~ vomiting|throwing|confused|drowsy",
        "confused ~ vomiting|diabetic|fever|shivering|shaking",
        "fever|temperature ~ confused|mottled|drowsy|delirious|floppy", "mottled", "cold and clammy", "bone ~ sticking",
        "struck by lightning", "electrocuted", "drowned|drowning", "snake ~ bit|bitten", "bitten|bit ~ snake",
        "saanp ~ kaat|kata",
    ]

    /// What is an emergency beside something else that was said.
    static let combined: [(beside: Set<String>, flag: RedFlag)] = [
        (["pregnant", "pregnancy", "trimester"], RedFlag("bleeding|blood", .emergency)),
        (
            ["diabetic", "diabetes", "sugar", "insulin"],
            RedFlag("vomiting|confused|drowsy|vomited|rambling|unconscious", .emergency)
        ),
        (["diabetic", "diabetes", "insulin"], RedFlag("can't|cannot|couldn't keep ~ down", .emergency)),
        (["legs"], RedFlag("started bleeding", .emergency)),
        (["chest"], RedFlag("squeezing|crushing|tearing|ripping|elephant", .emergency)),
        (
            ["stung", "sting", "wasp", "bee", "peanut", "peanuts", "prawns", "shellfish", "antibiotic", "epipen"],
            RedFlag("tongue|throat|lips|wheezing|faint|collapsing", .emergency)
        ),
        (["testicle", "testicles"], RedFlag("vomiting|sick|swollen", .emergency)),
        (["ball", "testicle", "testicles"], RedFlag("nowhere|agony|agonising|agonizing", .emergency)),
        (["smile", "arm", "speech", "words"], RedFlag("drooping|lopsided|slurring|droopy", .emergency)),
        (["fever", "rash", "temperature"], RedFlag("floppy|unrousable|mottled", .emergency)),
        (["baby", "newborn", "infant", "months", "weeks"], RedFlag("floppy|limp|blue|grey|unrousable", .emergency)),
    ]

    private static let urgencies = [
        "shortness of breath", "short of breath", "severe pain|headache", "severe abdominal pain", "high fever",
        "stiff neck",
        "blood in ~ urine|stool|pee|poo|stools", "fainted|fainting", "confused|confusion",
    ]
}
