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
                "i had surgery", "i was operated", "i had an operation", "i had a bypass", "my mother has",
                "my father has", "my mother had", "my father had", "my mother died of", "my father died of",
                "family history",
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
                "i think you have", "you have", "you've got", "there is no sign of",
            ]
        ),
        (
            .instruction,
            [
                "take", "continue", "use", "apply", "start taking", "start", "i will prescribe", "i am prescribing",
                "i will give you", "drink", "rest", "avoid", "gargle", "eat", "do not", "don't", "never", "keep",
                "exercise", "reduce", "increase", "stop", "switch", "make sure", "you should", "try to", "get plenty",
                "get some", "inhale", "walk",
            ]
        ),
        (
            .question,
            [
                "how", "what", "when", "where", "any", "does", "did", "was", "is", "are", "do you", "did you",
                "does it", "have you", "has it", "are you", "is there", "is it", "can you", "could you", "any other",
                "tell me", "would you", "take a seat", "take care", "take your time", "take all the time",
            ]
        ),
        (
            .statement,
            [
                "i have", "i've", "i also have", "i am having", "i feel", "i get", "i take", "i took", "i had",
                "i am taking", "i was taking", "i started", "she has", "he has", "my", "and i",
            ]
        ),
    ]

    /// Before an instruction these make it a report or a prohibition: "I drink", "to rest", "don't take".
    static let reporters: Set<String> = [
        "i", "we", "they", "he", "she", "you", "to", "did", "not", "can", "could", "would", "will", "the", "a", "an",
        "of", "at", "your", "my", "no", "never", "don't", "didn't", "can't", "cannot", "won't", "may", "might",
        "must", "should", "it",
    ]

    static let negations: Set<String> = [
        "no", "not", "never", "without", "nor", "neither", "deny", "denies", "denied", "don't", "didn't", "isn't",
        "aren't", "wasn't", "weren't", "haven't", "hasn't", "hadn't", "doesn't", "can't", "cannot", "couldn't",
        "won't", "wouldn't",
    ]

    /// What ends the reach of a negation.
    static let contrasts: Set<String> = ["but", "however", "although", "though", "except", "then"]

    /// Before a complaint these make it a possibility.
    static let hypotheticals: Set<String> = ["if", "may", "might", "could", "can", "whether", "unless", "should"]

    /// After a complaint these make it a thing of the past.
    static let resolutions: Set<String> = ["gone", "resolved", "better", "settled", "improved", "cleared", "stopped"]

    /// Whose complaints are not the patient's.
    static let otherPeople: Set<String> = [
        "daughter", "son", "wife", "husband", "mother", "father", "brother", "sister", "friend", "patient", "baby",
        "child", "neighbour", "neighbor", "colleague", "family",
    ]

    /// In a report about a medication these say that it is not taken.
    static let notTaken: [String] = [
        "stopped", "used to", "ran out", "can't take", "cannot take", "instead of", "won't give", "not take",
        "don't take", "never took", "no longer",
    ]

    /// In a report about a medication these say that it is not tolerated.
    static let reactions: [String] = ["gives me", "gave me", "makes me", "made me"]

    /// An instruction that begins so is advice about a medication, not a prescription.
    static let withdrawals: Set<String> = ["stop", "avoid", "reduce", "increase", "switch", "never", "don't", "do"]

    static let conditions: [String] = [
        "asthma", "diabetes", "hypertension", "high blood pressure", "copd", "epilepsy", "hypothyroidism",
        "thyroid disease", "heart disease", "kidney disease", "liver disease", "arthritis", "depression", "anxiety",
        "cancer", "anaemia", "anemia", "high cholesterol", "gout", "psoriasis", "eczema", "reflux",
    ]

    /// What "you have a …" must name to be an assessment.
    static let diagnoses: Set<String> = [
        "infection", "flu", "influenza", "virus", "migraine", "pneumonia", "asthma", "diabetes", "hypertension",
        "anaemia", "anemia", "sprain", "strain", "fracture", "ulcer", "syndrome", "disease", "disorder", "deficiency",
        "cold", "allergy", "reflux", "copd", "covid", "malaria", "dengue", "typhoid", "cancer", "stone", "stones",
    ]

    static let complaints: [String] = [
        "shortness of breath", "short of breath", "difficulty breathing", "loss of appetite", "loss of smell",
        "loss of taste", "weight loss", "sore throat", "throat pain", "runny nose", "blocked nose", "stuffy nose",
        "body aches", "body ache", "body pain", "chest pain", "chest tightness", "back pain", "stomach pain",
        "stomach ache", "abdominal pain", "knee pain", "stiff knee", "joint pain", "neck pain", "shoulder pain",
        "ear pain", "leg pain", "eye pain", "muscle pain", "burning sensation", "burning urination", "night sweats",
        "fever", "cough", "cold", "headache", "headaches", "migraine", "pain", "vomiting", "vomited", "nausea",
        "nauseous", "diarrhoea", "diarrhea", "loose motions", "constipation", "dizziness", "dizzy", "rash", "itching",
        "itchy", "fatigue", "tired", "tiredness", "weakness", "breathlessness", "breathless", "wheezing", "swelling",
        "chills", "palpitations", "cramps", "numbness", "insomnia", "bleeding", "toothache", "earache", "acidity",
        "heartburn", "bloating", "sneezing", "congestion",
    ]

    /// What hurts in "my left knee hurts".
    static let bodyParts: Set<String> = [
        "head", "neck", "throat", "chest", "back", "stomach", "belly", "abdomen", "arm", "shoulder", "elbow", "wrist",
        "hand", "finger", "hip", "leg", "knee", "ankle", "foot", "feet", "toe", "ear", "eye", "eyes", "tooth", "teeth",
    ]

    static let bodyComplaints: Set<String> = [
        "hurts", "hurt", "aches", "hurting", "aching", "sore", "swollen", "stiff",
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
        "pregabalin", "alprazolam", "clonazepam", "zolpidem", "ors", "antacid",
        "antihistamine",
    ]

    /// What is a medication only when it is taken, or has a dose.
    static let everydayMedications: Set<String> = ["insulin", "iron", "calcium", "zinc", "folic", "penicillin", "ors"]

    static let doseUnits: Set<String> = [
        "mg", "milligram", "milligrams", "mcg", "microgram", "micrograms", "g", "gram", "grams", "ml", "millilitre",
        "millilitres", "milliliters", "units", "tablet", "tablets", "capsule", "capsules", "drops", "puffs",
        "teaspoon", "teaspoons", "spoon", "spoons", "iu",
    ]

    static let numbers: Set<String> = [
        "a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty",
        "fifty", "sixty", "hundred", "thousand", "half", "few", "couple",
        "several",
    ]

    static let timeUnits: Set<String> = [
        "hour", "hours", "day", "days", "night", "nights", "week", "weeks", "month", "months", "year", "years",
    ]

    /// What may follow "since", besides numbers and units of time.
    static let dateWords: Set<String> = [
        "last", "the", "this", "of", "yesterday", "morning", "afternoon", "evening", "tonight", "today", "childhood",
        "birth", "early", "late", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    /// When a medication is taken, besides "n times a day" and "every n hours".
    static let schedules: [String] = [
        "once a day", "twice a day", "thrice a day", "once daily", "twice daily", "thrice daily", "once a week",
        "at night", "at bedtime", "in the morning", "in the evening", "after food", "before food", "after meals",
        "before meals", "with food", "after breakfast", "before breakfast", "after lunch", "after dinner",
        "as needed", "when needed", "if needed", "daily", "every day", "on an empty stomach", "od", "bd", "tds", "qid",
        "hs", "sos",
    ]
}
