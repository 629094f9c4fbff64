import ScribeDomain

/// The words by which the rules recognise what is said. Lower case, as phrases of whole words.
enum ClinicalLexicon {
    /// What a stretch of speech is about, by the phrase that opens it.
    enum Topic: Hashable {
        /// Recorded as a fact of this kind, from the phrase on.
        case fact(ClinicalFact.Kind)
        /// Looked through for medications and complaints.
        case statement
        /// An instruction: a medication if it names one, else advice.
        case instruction
        /// Says nothing about the patient.
        case question
    }

    static let openings: [(topic: Topic, phrases: [String])] = [
        (.fact(.allergy), ["allergic to", "allergy to", "allergies to", "no known allergies", "no allergies"]),
        (
            .fact(.history),
            [
                "history of", "diagnosed with", "known case of", "i am diabetic", "i am a diabetic",
                "i am hypertensive", "i am asthmatic", "i smoke", "i used to smoke", "i quit smoking",
                "i had surgery", "i was operated", "i had an operation", "my mother has", "my father has",
                "my mother had", "my father had", "runs in the family", "family history",
            ]
        ),
        (
            .fact(.followUp),
            [
                "come back", "follow up", "follow-up", "see me again", "see you again", "see you in", "see me in",
                "return if", "return in", "review in", "visit again", "next visit",
            ]
        ),
        (
            .fact(.examination),
            [
                "on examination", "your temperature is", "temperature is", "your blood pressure is",
                "blood pressure is", "your pulse is", "pulse is", "heart rate is", "oxygen saturation is",
                "your throat is", "your throat looks", "your chest is", "the chest is", "your lungs are",
                "lungs are", "your abdomen is", "your weight is",
            ]
        ),
        (
            .fact(.assessment),
            [
                "this looks like", "it looks like", "looks like", "this seems to be", "it seems to be",
                "most likely", "consistent with", "the diagnosis is", "i think this is", "i think it is",
                "i think you have", "you have a", "you have an", "there is no sign of",
            ]
        ),
        (
            .instruction,
            [
                "take", "continue", "use", "apply", "start taking", "i will prescribe", "i am prescribing",
                "i will give you", "drink", "rest", "avoid", "gargle", "eat", "do not", "don't", "keep", "exercise",
                "reduce", "stop", "make sure", "you should", "try to", "get plenty", "get some", "inhale", "walk",
            ]
        ),
        (
            .question,
            [
                "how", "what", "when did", "where", "do you", "did you", "does it", "have you", "has it", "are you",
                "is there", "is it", "can you", "could you", "any other", "tell me", "would you", "take a seat",
                "take care",
                "take your time", "take all the time",
            ]
        ),
        (
            .statement,
            [
                "i have", "i've", "i also have", "i am having", "i feel", "i get", "i take", "i am taking",
                "i was taking", "i started", "she has", "he has", "my", "and i",
            ]
        ),
    ]

    /// Before an instruction these make it a report: "I drink", "to rest".
    static let reporters: Set<String> = [
        "i", "we", "they", "he", "she", "you", "to", "did", "not", "can", "could", "would", "will", "the", "a", "an",
        "of", "at", "your", "my", "no",
    ]

    static let negations: Set<String> = ["no", "not", "never", "without", "denies", "don't", "nor", "didn't", "isn't"]

    static let complaints: [String] = [
        "shortness of breath", "difficulty breathing", "loss of appetite", "loss of smell", "loss of taste",
        "weight loss", "sore throat", "throat pain", "runny nose", "blocked nose", "stuffy nose", "body aches",
        "body ache", "body pain", "chest pain", "chest tightness", "back pain", "stomach pain", "stomach ache",
        "abdominal pain", "knee pain", "stiff knee", "joint pain", "neck pain", "shoulder pain", "ear pain",
        "leg pain", "eye pain", "muscle pain", "burning sensation", "burning urination", "night sweats", "fever",
        "cough", "cold", "headache", "headaches", "migraine", "pain", "vomiting", "nausea", "diarrhoea", "diarrhea",
        "loose motions", "constipation", "dizziness", "rash", "itching", "fatigue", "tiredness", "weakness",
        "breathlessness", "wheezing", "swelling", "chills", "palpitations", "cramps", "numbness", "insomnia",
        "bleeding", "toothache", "earache", "acidity", "heartburn", "bloating", "sneezing", "congestion",
    ]

    static let complaintQualifiers: Set<String> = [
        "dry", "wet", "productive", "severe", "mild", "moderate", "high", "low", "slight", "bad", "terrible",
        "constant", "persistent", "chronic", "sharp", "dull", "throbbing", "intermittent", "grade", "left", "right",
        "sided", "lower", "upper", "itchy", "red", "skin", "new", "painful",
    ]

    static let medications: Set<String> = [
        "paracetamol", "acetaminophen", "ibuprofen", "aspirin", "diclofenac", "naproxen", "tramadol", "codeine",
        "amoxicillin", "azithromycin", "ciprofloxacin", "doxycycline", "cefixime", "metronidazole", "penicillin",
        "cetirizine", "levocetirizine", "loratadine", "fexofenadine", "montelukast", "salbutamol", "albuterol",
        "budesonide", "prednisolone", "amlodipine", "telmisartan", "losartan", "lisinopril", "ramipril", "enalapril",
        "atenolol", "metoprolol", "bisoprolol", "furosemide", "hydrochlorothiazide", "atorvastatin", "rosuvastatin",
        "simvastatin", "clopidogrel", "warfarin", "metformin", "glimepiride", "sitagliptin", "insulin",
        "levothyroxine", "thyroxine", "omeprazole", "pantoprazole", "ranitidine", "famotidine", "ondansetron",
        "domperidone", "loperamide", "sertraline", "fluoxetine", "escitalopram", "amitriptyline", "gabapentin",
        "pregabalin", "alprazolam", "clonazepam", "zolpidem", "folic", "calcium", "iron", "zinc", "ors", "antacid",
        "antihistamine",
    ]

    static let doseUnits: Set<String> = [
        "mg", "milligram", "milligrams", "mcg", "microgram", "micrograms", "g", "gram", "grams", "ml", "millilitre",
        "millilitres", "milliliters", "units", "tablet", "tablets", "capsule", "capsules", "drops", "puffs",
        "teaspoon", "teaspoons", "spoon", "spoons",
    ]

    static let numbers: Set<String> = [
        "a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "fifteen", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "thousand", "half", "few", "couple",
        "several", "and",
    ]

    static let timeUnits: Set<String> = [
        "hour", "hours", "day", "days", "night", "nights", "week", "weeks", "month", "months", "year", "years",
    ]

    /// When a medication is taken, besides "n times a day" and "every n hours".
    static let schedules: [String] = [
        "once a day", "twice a day", "thrice a day", "once daily", "twice daily", "thrice daily", "once a week",
        "at night", "at bedtime", "in the morning", "in the evening", "after food", "before food", "after meals",
        "before meals", "with food", "after breakfast", "before breakfast", "after lunch", "after dinner",
        "as needed", "when needed", "if needed", "daily", "every day", "on an empty stomach",
    ]
}
