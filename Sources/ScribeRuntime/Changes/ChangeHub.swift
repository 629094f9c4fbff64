import ScribeDomain
package import ScribeStore

/// Dispatches changes of the store to held polls, cached answers, job workers, timers and webhook deliveries. Every
/// receiver of changes gets them here.
package struct ChangeHub: ChangeSink {
    package let signals: ChangeSignals
    let bells: [Job.Kind: JobBell]
    let timers: [TimedWork: JobBell]
    package let lanes = DeliveryLanes()

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
