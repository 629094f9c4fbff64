import DataFolder
import Foundation
import ScribeStore

/// Names of the families' key files in a data folder, for `backup` and `restore`.
package enum FamilySecrets {
    package static var names: [String] { Composition(Configuration()).secrets }
}

extension Configuration {
    /// Names that images, units and TLS may put into the data folder before its first start: those of keys, and the
    /// folder of the development authority.
    package var namesBeforeFirstStart: Set<String> {
        var names = Set([DataFolder.signingKey, DataFolder.adminToken, "tls"] + Composition(self).secrets)
        let place = URL(fileURLWithPath: dataFolder).standardizedFileURL.pathComponents
        let authority = URL(fileURLWithPath: tls.folder ?? "").standardizedFileURL.pathComponents
        if authority.count > place.count, authority.starts(with: place) { names.insert(authority[place.count]) }
        return names
    }
}
