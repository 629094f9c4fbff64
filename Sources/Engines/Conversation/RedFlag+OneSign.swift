extension RedFlag {
    /// Causes with one sign each.
    static let causesWithOneSign: [(words: Set<String>, signs: [String])] = [
        (["pregnant", "pregnancy", "trimester"], ["bleeding|blood"]),
        (["diabetic", "diabetes", "sugar", "insulin"], ["vomiting|confused|drowsy|vomited|rambling|unconscious"]),
        (["diabetic", "diabetes", "insulin"], ["can't|cannot|couldn't keep ~ down"]),
        (["legs"], ["started bleeding"]),
        (["pregnant", "trimester"], ["vision|sight & blurry|spots|flashing|lights"]),
        (["sweating", "sweaty", "clammy", "breathless"], ["jaw|arm & aching|ache|aches|pain|heavy"]),
        (["head", "fell", "fall", "ladder", "crash", "bike", "punched"], ["was|got|were knocked out"]),
        (["hit", "banged", "bumped"], ["keeps|been|being|keep sick|vomiting"]),
        (["sun", "heat", "sauna"], ["confused|delirious|collapsed"]),
        (["newborn", "baby", "infant"], ["won't|stopped feed|feeding"]),
        (["hives", "rash"], ["hoarse|wheezing|faint|wheezy"]),
        (["sugar", "diabetic", "ketones"], ["being|keep|been|stop & sick"]),
        (["pump", "insulin", "ketones"], ["throwing|vomiting"]),
        (["sugar"], ["shaking|drowsy & can't|cannot"]),
        (["temperature", "fever", "forty"], ["neck & bend|stiff"]),
        (["cold", "clammy", "sweat"], ["arm & heavy|ache|aching|pain|numb"]),
        (["cold", "clammy", "hands"], ["breathing & strangely|fast|funny|odd"]),
        (["calf"], ["breath|breathless|breathing"]),
        (["chest"], ["squeezing|crushing|tearing|ripping|elephant"]),
        (
            [
                "stung", "sting", "wasp", "bee", "peanut", "peanuts", "prawn", "prawns", "shellfish", "nuts",
                "antibiotic", "epipen",
            ], ["tongue|throat|lips|wheezing|faint|collapsing|hoarse"]
        ),
        (["testicle", "testicles"], ["vomiting|sick|swollen"]),
        (["ball", "testicle", "testicles"], ["nowhere|agony|agonising|agonizing"]),
        (["smile", "arm", "speech", "words"], ["drooping|lopsided|slurring|droopy"]),
        (["fever", "rash", "temperature"], ["floppy|unrousable|mottled"]),
        (["baby", "newborn", "infant", "months", "weeks"], ["floppy|limp|blue|grey|unrousable"]),
    ]
}
