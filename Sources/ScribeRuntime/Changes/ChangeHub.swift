import ScribeDomain
package import ScribeStore

/// Where the store's changes go: to those who wait for a transaction, to answers that were kept, and to whoever does the
/// jobs and tells webhooks. What else is to learn of changes hangs on this, and nowhere else.
package struct ChangeHub: ChangeSink {
    package let signals: ChangeSignals
    let bells: [Job.Kind: JobBell]
    let timers: [TimedWork: JobBell]
    let lanes = DeliveryLanes()

    package init() {
        signals = ChangeSignals()
        bells = Dictionary(uniqueKeysWithValues: Job.Kind.allCases.map { ($0, JobBell()) })
        timers = [.expiry: JobBell(for: .expiry), .silence: JobBell(for: .conversation)]
    }

    package func publish(_ change: Change) {
        switch change {
        case .transaction(let key): signals.post(key)
        case .audio(let key): signals.wake(key)
        case .work(let kind): bells[kind]?.ring()
        case .due(let work): timers[work]?.ring()
        case .claimed(let job): bells[job.work.kind]?.hand(job)
        case .delivery(let lane): lanes.ring(lane)
        }
    }
}
