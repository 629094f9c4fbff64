extension ClinicalLexicon {
    /// Tests, imaging and scores.
    static let investigations: [String] = [
        "24-hour monitor", "a one c", "a1c", "allergy test", "allergy testing", "angiogram", "autoimmune panel",
        "autoimmune workup", "b12 level", "basic metabolic panel", "biopsy", "blood cell count", "blood count",
        "blood culture", "blood cultures", "blood sugar", "blood sugars", "blood test", "blood tests", "blood work",
        "bloods", "bloodwork", "bnp", "bone density", "bone scan", "c t scan", "carotid ultrasound", "cat scan", "cbc",
        "chest x ray", "chest x-ray", "cholesterol test", "coagulation", "colonoscopy", "complete blood count",
        "comprehensive metabolic panel", "covid test", "creatinine", "crp", "ct", "ct angiogram",
        "ct coronary angiogram", "ct scan", "culture", "cystoscopy", "d-dimer", "dengue ns1", "dexa scan", "dipstick",
        "doppler", "ecg", "echo", "echocardiogram", "eeg", "ekg", "electrocardiogram", "electrolytes", "emg",
        "endoscopy", "esr", "exercise test", "eye exam", "eye screening", "fasting glucose", "fasting sugar",
        "ferritin", "flu test", "full blood count", "gad seven", "gad-7", "gastroscopy", "genetic testing",
        "glucose tolerance test", "h b a one c", "h pylori", "haemoglobin", "haemoglobin a1c", "hba1c", "hearing test",
        "heart monitor", "hemoglobin", "hemoglobin a one c", "hemoglobin a1c", "hida scan", "holter", "holter monitor",
        "imaging", "inflammatory markers", "inr", "iron studies", "kidney function", "lab", "lab results", "lab tests",
        "lab work", "laboratory", "labs", "lfts", "lipid panel", "lipid profile", "lipids", "liver function",
        "liver function tests", "lumbar puncture", "lung function", "m r i", "mammogram", "metabolic panel",
        "microalbumin", "mri", "mri scan", "nerve conduction", "p h q nine", "pap smear", "patch testing",
        "peak flow test", "phq nine", "phq-9", "phq9", "pregnancy test", "psa", "pulmonary function test",
        "pulmonary function tests", "rapid strep", "renal function", "rheumatoid factor", "scan", "scans", "scope",
        "screening", "skin prick", "sleep study", "smear", "smear test", "sonogram", "spirometry", "sputum",
        "sputum culture", "sputum test", "stool culture", "stool sample", "stool test", "strep test", "stress test",
        "swab", "tests", "the urine for culture", "throat culture", "throat swab", "thyroid function", "thyroid panel",
        "thyroid test", "thyroid tests", "treadmill test", "troponin", "tsh", "ultrasound", "ultrasound scan",
        "uric acid", "urinalysis", "urine culture", "urine dip", "urine sample", "urine test", "vitamin d level",
        "white blood cell count", "white count", "x ray", "x rays", "x-ray", "x-rays", "xray",
    ]

    /// Services and specialists that patients are referred to.
    static let specialties: [String] = [
        "allergist", "breast clinic", "cardiac rehab", "cardiologist", "cardiology", "case manager", "cbt",
        "chiropractor", "counseling", "counselling", "counselor", "dentist", "dermatologist", "dermatology",
        "diabetes educator", "dietician", "dietitian", "ear nose and throat", "endocrinologist", "endocrinology", "ent",
        "eye doctor", "falls clinic", "fracture clinic", "gastroenterologist", "gastroenterology", "general surgeon",
        "gi", "gynaecology", "gynecologist", "gynecology", "haematology", "hand surgeon", "heart failure clinic",
        "hematologist", "hematology", "home health", "immunologist", "infectious disease", "memory clinic", "midwife",
        "nephrologist", "nephrology", "neurologist", "neurology", "neurosurgeon", "neurosurgery", "nutrition",
        "nutritionist", "ob-gyn", "obstetrics", "occupational therapy", "oncologist", "oncology", "ophthalmologist",
        "ophthalmology", "optometrist", "orthopaedics", "orthopedic", "orthopedic surgeon", "orthopedics",
        "orthopedist", "paediatrician", "pain clinic", "pain management", "pain specialist", "pediatrician",
        "pediatrics", "physical therapist", "physical therapy", "physio", "physiotherapist", "physiotherapy",
        "plastic surgeon", "podiatrist", "podiatry", "psychiatrist", "psychiatry", "psychologist", "psychology",
        "pulmonary rehab", "pulmonologist", "pulmonology", "respiratory clinic", "rheumatologist", "rheumatology",
        "sleep clinic", "sleep specialist", "smoking cessation", "social worker", "specialist", "speech therapy",
        "spine surgeon", "stroke clinic", "surgeon", "surgery consult", "therapist", "therapy", "urologist", "urology",
        "vascular surgeon", "weight clinic", "wound clinic",
    ]

    /// Terms of the physical examination.
    static let examinationTerms: [String] = [
        "abdomen", "abduction", "acute distress", "adduction", "adenopathy", "affect", "airway", "alert", "alignment",
        "ankles", "auscultation", "backs of the eyes", "belly", "blisters", "bowel sounds", "breath sounds",
        "breathing", "bruising", "bruit", "bruits", "calf", "calves", "capillary refill", "carotid bruits", "cervix",
        "chest", "chest wall", "clear bilaterally", "clear to auscultation", "clubbing", "conjunctiva", "crackles",
        "cranial nerves", "crepitus", "cyanosis", "deformity", "discoloration", "distended", "distension", "distress",
        "dorsiflexion", "drawer test", "dry and cracked", "ear drum", "eardrum", "eardrums", "ecchymosis", "edema",
        "effusion", "ejection", "erythema", "extension", "exudate", "exudates", "eye contact", "fetal heart", "flexion",
        "foot pulses", "full range", "fundal height", "fundi", "gait", "gallop", "gallops", "glands",
        "good air movement", "grip", "grip strength", "guarding", "hawkins", "hearing", "heart", "heart sounds",
        "hernia", "incision", "inflamed", "inflammation", "jaundice", "joint line", "jugular", "jvd", "kneecap",
        "lachman", "lateral", "leg lengths", "lesion", "lesions", "ligaments", "lump", "lung sounds", "lungs",
        "lymph node", "lymph nodes", "lymphadenopathy", "macules", "malleolus", "mass", "masses", "mcmurray",
        "mcmurray's", "medial", "metacarpal", "moist", "mood", "mucous membranes", "murmur", "murmurs", "nails", "neer",
        "neuro exam", "neurological exam", "no blisters", "nodule", "nodules", "non-tender", "nontender", "nose",
        "oedema", "oral mucosa", "oriented", "pain on the inside", "pain on the outside", "pain to palpation",
        "pain with palpation", "pallor", "palpation", "papules", "paraspinal", "patella", "peak flow", "pedal pulses",
        "percussion", "phalen", "phalen's", "pharynx", "pitting", "plantar", "plaque", "plaques", "posture", "prostate",
        "pulses", "pupils", "quinsy", "rales", "range of motion", "rash", "rate and rhythm", "rebound", "redness",
        "reflexes", "regular rate", "regular rhythm", "retractions", "rhonchi", "rotation", "rub", "scaling", "scaly",
        "scar", "sclera", "sensation", "sign of infection", "signs of infection", "sinuses", "skin", "spine",
        "spurling's", "straight leg", "straight leg raise", "strength", "stridor", "swelling", "symmetrical",
        "systolic", "tender", "tenderness", "throat", "thyroid", "thyromegaly", "tinel", "tinel's", "tonsils",
        "trace edema", "tummy", "turbinates", "tympanic membrane", "tympanic membranes", "ulcer", "uterus", "vision",
        "visual fields", "vital signs", "vitals", "wheeze", "wheezes", "wheezing", "white spots", "wound",
    ]

    /// Persons other than the patient, beside ``bloodRelatives``.
    static let relatives: Set<String> = [
        "boss", "boyfriend", "colleague", "colleagues", "coworker", "daughter", "daughter's", "daughters",
        "father-in-law", "fiance", "fiancee", "friend", "friend's", "friends", "girlfriend", "granddaughter",
        "grandson", "husband", "husband's", "in-laws", "kid", "kids", "mother-in-law", "neighbor", "neighbour",
        "neighbours", "parent", "partner", "roommate", "son", "son's", "sons", "spouse", "wife", "wife's",
    ]

    /// Blood relatives, whose illness is family history.
    static let bloodRelatives: Set<String> = [
        "aunt", "auntie", "brother", "brother's", "brothers", "cousin", "cousins", "dad", "dad's", "daddy",
        "family", "father", "father's", "gran", "granddad", "grandfather", "grandma", "grandmother", "grandpa",
        "grandparents", "mama", "mom", "mom's", "mommy", "mother", "mother's", "mum", "mum's", "nan", "nana",
        "nephew", "niece", "parents", "relatives", "sibling", "siblings", "sister", "sister's", "sisters", "uncle",
    ]

    /// Words about a patient's way of life.
    static let socialTerms: [String] = [
        "a cat", "a dog", "a pack a day", "a week", "accountant", "alcohol", "baker", "barber", "bartender", "bourbon",
        "bricklayer", "builder", "bus driver", "beer", "beers", "caffeine", "cannabis", "carpenter", "cashier", "chef",
        "childminder", "cleaner", "chew tobacco", "cigarette", "cigarettes", "cigars", "cocaine", "coffee", "college",
        "construction", "cups of coffee", "day care", "daycare", "desk job", "diet", "divorced", "drink",
        "drink alcohol", "drinker", "drinking", "drinks", "driver", "energy drinks", "electrician", "engineer",
        "exercise", "exercising", "factory", "farmer", "fast food", "gardener", "glass of wine", "gin", "got a cat",
        "gym", "hairdresser", "heroin", "housewife", "high school", "i work", "illicit drugs", "jogging", "junk food",
        "kids", "lawyer", "librarian", "live alone", "live on my own", "live with", "lives alone", "lives on",
        "lives with", "lives on his own", "lives on her own", "living with", "marijuana", "mechanic", "married",
        "military", "moved", "my job", "nurse", "office job", "on disability", "on my own", "on weekends", "pack",
        "packs a day", "painter", "pets", "pint", "pints", "plumber", "receptionist", "roofer", "rum", "quit drinking",
        "quit smoking", "recreational drugs", "recreational drug use", "drug use", "illicit drug use", "substance use",
        "retired", "running again", "salon", "school", "sexually active", "single", "smoke", "smoked", "smoker",
        "smokes", "smoking", "social drinker", "socially", "soda", "stopped smoking", "street drugs", "student",
        "swimming", "teacher", "tobacco", "travel", "traveled", "travelled", "truck driver", "unemployed",
        "units a week", "vape", "vaping", "vegan", "vegetarian", "veteran", "vodka", "waiter", "waitress", "welder",
        "warehouse", "weed", "whiskey", "widowed", "wine", "work as", "working as", "works as", "yoga",
    ]
}
