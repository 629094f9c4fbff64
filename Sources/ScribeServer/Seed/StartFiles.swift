import Basics
import Control
import Crypto
import Foundation
import ScribeDomain
import ScribeHTTP
import ServiceLifecycle

/// Files that a server applies to its data before it opens its ports.
struct StartFiles: Sendable {
    private enum Kind: String, CaseIterable {
        case seed, faults, fixtures
    }

    /// nil for no seed and no fault rule.
    let content: StartContent?
    /// Fixtures file of the folder; nil for none.
    let fixtures: String?

    /// Reads and checks the files of a configuration.
    /// - Returns: nil if it names none.
    /// - Throws: ``StartupProblem/unusableStartFile(path:reason:)``.
    init?(_ configuration: Configuration, _ composition: Composition) throws(StartupProblem) {
        guard configuration.startFolder != nil || !(configuration.seedFiles + configuration.faultFiles).isEmpty else {
            return nil
        }
        var found = try Self.files(in: configuration.startFolder)
        if let second = found[.fixtures]?.dropFirst().first {
            throw .unusableStartFile(path: second, reason: "is a second fixtures file; one is read")
        }
        fixtures = found[.fixtures]?.first
        found[.seed, default: []] += configuration.seedFiles
        found[.faults, default: []] += configuration.faultFiles
        let (seeds, faults) = (try Self.read(found[.seed] ?? []), try Self.read(found[.faults] ?? []))
        guard !(seeds + faults).isEmpty else {
            content = nil
            return
        }
        do {
            content = try StartContent(
                seeds: seeds, faults: faults, events: composition.vocabularies.names,
                composition.control)
        } catch {
            throw StartupProblem(error)
        }
    }

    /// The files of a folder, sorted by their names, which begin with what is in them.
    private static func files(in folder: String?) throws(StartupProblem) -> [Kind: [String]] {
        guard let folder, FileManager.default.fileExists(atPath: folder) else { return [:] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unusableStartFile(path: folder, reason: "is no folder that can be read")
        }
        var found: [Kind: [String]] = [:]
        // A mounted folder of Kubernetes has hidden links.
        for name in names.sorted() where !name.hasPrefix(".") {
            guard let kind = Kind.allCases.first(where: { name.hasPrefix($0.rawValue) }),
                [".yaml", ".yml", ".json"].contains(where: name.hasSuffix)
            else {
                throw .unusableStartFile(
                    path: "\(folder)/\(name)", reason: "is none of seed*.yaml, faults*.yaml and fixtures.yaml")
            }
            found[kind, default: []].append("\(folder)/\(name)")
        }
        return found
    }

    private static func read(_ paths: [String]) throws(StartupProblem) -> [StartContent.File] {
        try paths.map { path throws(StartupProblem) in
            guard let data = FileManager.default.contents(atPath: path) else {
                throw .unusableStartFile(path: path, reason: "cannot be read")
            }
            do {
                let digest = Hex.encode(SHA256.hash(data: data))
                return StartContent.File(path: path, content: try YAMLText.json(of: data), digest: digest)
            } catch {
                throw .unusableStartFile(path: path, reason: "it is not YAML: \(error)")
            }
        }
    }
}

extension Configuration {
    /// The configuration with the fixtures of a folder, unless it names others.
    func using(_ files: StartFiles?) -> Configuration {
        var configuration = self
        configuration.fixturesFile = fixturesFile ?? files?.fixtures
        return configuration
    }
}

extension StartupProblem {
    init(_ mistake: StartContent.Mistake) { self = .unusableStartFile(path: mistake.path, reason: mistake.reason) }
}

/// Service that applies ``StartFiles`` to the default world. Ports open after it.
struct StartService: Service {
    let content: StartContent
    let directory: WorldDirectory
    /// Fires when all is applied.
    let applied: OneShotSignal

    /// - Throws: ``StartupProblem/unusableStartFile(path:reason:)``, which ends the start; an error of the storage.
    func run() async throws {
        do {
            try await content.apply(to: directory.main)
        } catch let mistake as StartContent.Mistake {
            throw StartupProblem(mistake)
        }
        applied.fire()
        try? await gracefulShutdown()
    }
}
