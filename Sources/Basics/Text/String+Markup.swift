extension String {
    /// Text escaped for XML and HTML, between tags and in double quotes. Characters that XML cannot hold are left out.
    package var escapedForMarkup: String { escapedForMarkup(singleQuotes: false) }

    /// Escapes text for XML and HTML; with `singleQuotes`, also single quotes and carriage returns, as pages need.
    package func escapedForMarkup(singleQuotes quotes: Bool) -> String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\r" where quotes: escaped += "&#13;"
            case "'" where quotes: escaped += "&#39;"
            case "\t", "\n", "\r": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
