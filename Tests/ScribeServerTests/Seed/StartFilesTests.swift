import Basics
import Foundation
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@Suite("Files that are applied before the ports open")
struct StartFilesTests {
    private static let seed = """
        clients:
          - {client_id: c-1, client_secret: secret-1}
        consultations:
          - {client_id: c-1, txn_id: v-1, transcript: I have a cough.}
        """

    private func problems(_ files: [String: String]) throws -> String {
        let folder = try TemporaryFolder()
        for (name, text) in files { _ = try folder.write(Data(text.utf8), as: name) }
        var configuration = Configuration()
        configuration.startFolder = folder.path
        defer { withExtendedLifetime(folder) {} }
        return configuration.problems().joined(separator: "\n")
    }

    @Test(
        "a file that cannot be applied is named, with its reason",
        arguments: [
            (["seed.yaml": "clients: [{client_id: a}]"], "seed.yaml: 'clients[0].client_secret' is missing"),
            (["seed-2.yml": "[1]"], "seed-2.yml: it must be a JSON object"),
            (["seed.yaml": "a: [b"], "seed.yaml: it is not YAML"),
            (["seed.json": #"{"clientz": []}"#], "seed.json: 'clientz' is not known; the nearest name is clients"),
            (["faults.yaml": "- {operation: commits, status: 500}"], "no operation is called 'commits'"),
            (["faults.yaml": "{faults: 1}"], "faults.yaml: must be a list of fault rules"),
            (["faults.yaml": "[7]"], "faults.yaml: it has a rule that is no object"),
            (["faults.yaml": "[{id: a, status: 500}, {id: a, status: 500, method: GET}]"], "There is a fault rule 'a'"),
            (
                ["faults.yaml": "[{id: a, status: 500}]", "faults-2.yaml": "[{status: 501}]"],
                "The rule 'fault-1' has the same"
            ),
            (
                ["faults.yaml": "[{method: GET, status: 500}, {id: fault-1, method: PUT, status: 500}]"],
                "There is a fault rule 'fault-1'"
            ),
            (["notes.txt": "x"], "notes.txt: is none of seed*.yaml, faults*.yaml and fixtures.yaml"),
            (["fixtures.yaml": "", "fixtures2.yaml": ""], "fixtures2.yaml: is a second fixtures file"),
            (["fixtures.yaml": "fixtures: [{text: a}]"], "a fixture needs a name"),
        ])
    func mistakes(files: [String: String], problem: String) throws {
        let found = try problems(files)
        #expect(found.contains(problem), "\(found)")
    }

    @Test("numbers of a file are numbers, in YAML and in JSON")
    func numbers() throws {
        let text = #"{"a": 0.98, "b": 1e3, "c": -7, "d": "1.5", "e": 1.2.3, "f": nan, "g": 010, "h": .5}"#
        #expect(
            try YAMLText.json(of: Data(text.utf8))
                == .object([
                    "a": .number(0.98), "b": .number(1000), "c": .integer(-7), "d": .string("1.5"),
                    "e": .string("1.2.3"), "f": .string("nan"), "g": .integer(10), "h": .string(".5"),
                ]))
    }

    @Test("a folder without a mistake, an empty one and one that is not there are no problem")
    func fine() throws {
        #expect(try problems(["seed.yaml": "", "faults.yaml": "", ".hidden": "x"]) == "")
        #expect(try problems(["seed.yaml": Self.seed, "faults.json": #"{"faults": [{"status": 500}]}"#]) == "")
        #expect(try problems([:]) == "")
        var configuration = Configuration()
        configuration.startFolder = "/nowhere/at/all"
        #expect(configuration.problems() == [])
    }
}
