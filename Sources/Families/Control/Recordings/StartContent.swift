package import Basics
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Seeds and fault rules of files, which a server applies before it opens its ports.
package struct StartContent: Sendable {
    /// A file that is read.
    package struct File: Sendable {
        let path: String
        let content: JSONValue
        /// SHA-256 of the file, in hexadecimal.
        let digest: String

        package init(path: String, content: JSONValue, digest: String) {
            self.path = path
            self.content = content
            self.digest = digest
        }
    }

    /// A file that cannot be applied. Nothing of any file is stored then.
    package struct Mistake: Error, Sendable {
        package let path: String
        package let reason: String
    }

    private let seeds: [(file: File, body: SeedBody)]
    private let rules: [(path: String, rule: FaultRule, id: String?)]
    private let settings: ControlFamily.Settings

    /// Checks the files as far as that can be done without data.
    /// - Parameters:
    ///   - seeds: each as a body of `POST /__admin/seed`.
    ///   - faults: each with a list of rules, which may be the member `faults`.
    ///   - events: names of the events of all APIs.
    /// - Throws: ``Mistake``.
    package init(
        seeds: [File], faults: [File], events: [String], _ settings: ControlFamily.Settings
    ) throws(Mistake) {
        self.settings = settings
        // The same content twice is one seed.
        let distinct = seeds.enumerated().filter { file in
            !seeds[..<file.offset].contains { $0.digest == file.element.digest }
        }
        self.seeds = try distinct.map(\.element).map { file throws(Mistake) in
            do {
                let content = file.content == .null ? .object([:]) : file.content
                let fields = try JSONFields(content, allowed: SeedBody.members)
                return (file, try SeedBody(fields, refusing: settings.refusedSecrets))
            } catch {
                throw Self.mistake(error, in: file.path)
            }
        }
        let reader = FaultRuleReader(operations: .documented, others: settings.otherOperations, events: events)
        var rules: [(path: String, rule: FaultRule, id: String?)] = []
        // How much memory the rules may take only their world knows.
        let tried = FaultRules(WorldIdentifiers(.random), WorldMemory(limit: .max).share())
        for file in faults {
            for content in try Self.list(in: file) {
                do {
                    guard case .object(let members) = content else {
                        throw ScribeError.invalidRequest(field: nil, problem: "has a rule that is no object")
                    }
                    let (rule, id) = try reader.rule(of: members)
                    _ = try tried.add(rule, named: id)
                    rules.append((file.path, rule, id))
                } catch {
                    throw Self.mistake(error, in: file.path)
                }
            }
        }
        self.rules = rules
    }

    private static func list(in file: File) throws(Mistake) -> [JSONValue] {
        switch file.content {
        case .null: return []
        case .array(let rules): return rules
        case .object(let members) where members.keys.allSatisfy({ $0 == "faults" }):
            if case .array(let rules)? = members["faults"] { return rules }
        default: break
        }
        throw Mistake(path: file.path, reason: "must be a list of fault rules, or have one as 'faults'")
    }

    package var isEmpty: Bool { seeds.isEmpty && rules.isEmpty }

    /// Stores the seeds that were not applied to these data before, and adds the rules. The services of the world run.
    /// - Throws: ``Mistake``, before anything is stored; an error of the storage.
    package func apply(to world: World) async throws {
        let seeding = Seeding(world: world, specialty: settings.specialty)
        var plan: Seeding.Plan?
        var isStored = false
        while !isStored {
            let applied = try await world.runtime.store.transactions.appliedFiles()
            let new = seeds.filter { !applied.contains($0.file.digest) }
            if !seeds.isEmpty {
                // Another server on the same data may have seeded clients.
                let seeded = try await world.runtime.store.transactions.seededClients()
                world.authenticator.clients.replaceSeeded(with: seeded)
            }
            plan = new.isEmpty ? nil : try await self.plan(new, seeding)
            try checkClients(of: world, plan)
            guard let plan else { break }
            do {
                try await seeding.store(plan)
                isStored = true
            } catch SeedProblem.isApplied {
                // Another server on the same data was faster.
                continue
            } catch let problem as SeedProblem {
                throw Self.mistake(problem, in: Self.names(of: new))
            }
        }
        // A rule about results is for recordings to come.
        if let plan, world.runtime.store.holder.worksOnJobs {
            _ = try await seeding.finish(plan, until: OneShotSignal())
        }
        for rule in rules {
            do {
                _ = try world.runtime.faults.add(rule.rule, named: rule.id)
            } catch let problem as FaultProblem {
                throw Self.mistake(problem, in: rule.path)
            }
        }
    }

    private func plan(_ seeds: [(file: File, body: SeedBody)], _ seeding: Seeding) async throws -> Seeding.Plan {
        do {
            var plan = try await seeding.plan(SeedBody(joining: seeds.map(\.body)))
            plan.rows.files = seeds.map(\.file.digest)
            return plan
        } catch let problem as ScribeError {
            throw Self.mistake(problem, in: Self.names(of: seeds))
        } catch let problem as SeedProblem {
            throw Self.mistake(problem, in: Self.names(of: seeds))
        }
    }

    /// - Throws: ``Mistake`` for a rule about a client that is not known.
    private func checkClients(of world: World, _ plan: Seeding.Plan?) throws(Mistake) {
        let new = plan?.rows.clients.map(\.client.principal.client) ?? []
        let clients = world.authenticator.clients
        for rule in rules {
            guard let client = rule.rule.match.client, !new.contains(ClientID(client)),
                clients.admitted(ClientID(client), in: world.authenticator.mode) == nil
            else { continue }
            let known = (clients.ids + new).map(\.rawValue)
            let problem = ScribeError.invalidRequest(
                field: "client", problem: ScribeError.noSuch("client", client, among: known))
            throw Self.mistake(problem, in: rule.path)
        }
    }

    private static func names(of seeds: [(file: File, body: SeedBody)]) -> String {
        seeds.map(\.file.path).joined(separator: ", ")
    }

    private static func mistake(_ error: any Error, in path: String) -> Mistake {
        let reason =
            switch error {
            case ScribeError.invalidRequest(let field?, let problem): "'\(field)' \(problem)"
            case ScribeError.invalidRequest(nil, let problem): "it \(problem)"
            case let problem as FaultProblem: problem.refusal.message
            case let problem as SeedProblem: problem.refusal.message
            default: "\(error)"
            }
        return Mistake(path: path, reason: reason)
    }
}
