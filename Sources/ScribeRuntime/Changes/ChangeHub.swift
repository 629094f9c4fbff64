import Basics
package import ScribeStore

/// Dispatches changes of the store to held polls, cached answers, job workers, timers and webhook deliveries. Every
/// receiver of changes gets them here.
package struct ChangeHub: ChangeSink {
    package let signals: ChangeSignals
    let inboxes: [Job.Kind: JobInbox]
    let timers: [TimedWork: Wakeup]
    package let lanes = DeliveryLanes()

    /// - Parameter interval: time after which held polls read again without a change; nil where no other process
    ///   changes the data.
    package init(rereadsEvery interval: Duration? = nil) {
        signals = ChangeSignals(rereadsEvery: interval)
        inboxes = Dictionary(uniqueKeysWithValues: Job.Kind.allCases.map { ($0, JobInbox()) })
        timers = [.expiry: Wakeup(for: .expiry), .silence: Wakeup(for: .conversation)]
    }

    package func publish(_ change: Change) {
        switch change {
        case .transaction(let key): signals.post(key)
        case .audio(let key): signals.wake(key)
        case .work(let kind): inboxes[kind]?.wakeup.wake()
        case .due(let work): timers[work]?.wake()
        case .claimed(let job): inboxes[job.work.kind]?.deliver(job)
        case .delivery(let lane): lanes.wake(lane)
        }
    }
}
