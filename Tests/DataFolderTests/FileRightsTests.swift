import Basics
import Foundation
import ScribeStore
import TestSupport
import Testing

@testable import DataFolder

/// The commands that give a user a right that a start needs. `test_start_errors.py` runs them.
struct FileRightsTests {
    @Test("a folder that is there changes its owner and its mode, and a missing one is made")
    func commands() throws {
        let folder = try TemporaryFolder()
        #expect(
            FileRights.remedy(for: folder.path)
                == "Run sudo chown -R \(geteuid()) '\(folder.path)' && sudo chmod -R u+rwX '\(folder.path)'")
        let data = "\(folder.path)/data"
        try DataFolder(path: data).release()
        for path in [data, "\(data)/states/1/scribe.sqlite", "\(data)/missing/file"] {
            #expect(
                FileRights.remedy(for: path)
                    == "Run sudo chown -R \(geteuid()) '\(data)' && sudo chmod -R u+rwX '\(data)'")
        }
        #expect(FileRights.remedy(for: "missing").hasPrefix("Run sudo install -d "))
        #expect(
            FileRights.remedy(for: "\(folder.path)/a/it's")
                == #"Run sudo install -d -m 700 -o \#(geteuid()) '\#(folder.path)/a/it'\''s'"#)
    }

    @Test("a key of this user changes its mode, and one of another user its owner too")
    func keys() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(), as: "key")
        #expect(FileRights.ofKey(file) == "chmod 600 '\(file)'")
        if geteuid() != 0 {
            #expect(FileRights.ofKey("/etc/passwd").hasPrefix("sudo chown \(geteuid()) '/etc/passwd' && "))
        }
    }
}
