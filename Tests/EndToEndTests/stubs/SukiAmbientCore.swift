// swift-format-ignore-file
// Names of Suki's SDK, as its documentation lists them.
public enum SukiAmbientConstant {
    public static let kPatientInfo = "patientInfo"
    public static let kGender = "gender"
    public static let kProviderContext = "providerContext"
    public static let kSpeciality = "speciality"
    public static let kSections = "sections"
    public static let kCode = "code"
    public static let kCodeType = "codeType"
}
