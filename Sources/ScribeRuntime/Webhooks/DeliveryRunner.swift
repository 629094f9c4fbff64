import Basics
import Engines
package import Journal
package import Logging
package import Outbound
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle

/// Sends the store's deliveries until the server stops. Each lane has its own task, so that a slow receiver delays no
/// other receiver.
package struct DeliveryRunner: Service {
    let store: Store
    let sender: DeliverySender
    let lanes: DeliveryLanes
    let metrics: Metrics
    let clock: WorldClock
    let faults: WebhookFaults
    let logger: Logger
    /// Concurrent messages to all receivers.
    let slots = Slots(count: 256)
    /// Concurrent messages of each business, so that none takes all slots.
    let businessSlots = TenantSlots(count: 32)

    package init(
        store: Store, outbound: OutboundClient, formats: [any WebhookFormat], faults: FaultRules, journal: Journal?,
        changes: ChangeHub, metrics: Metrics, clock: WorldClock, logger: Logger
    ) {
        self.store = store
        self.metrics = metrics
        self.clock = clock
        self.logger = logger
        self.faults = WebhookFaults(rules: faults, store: store, clock: clock, logger: logger)
        lanes = changes.lanes
        sender = DeliverySender(
            outbound: outbound, formats: formats.byStyle, journal: journal, clock: clock)
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                await takeUp()
                while !Task.isCancelled {
                    for (name, wakeup) in lanes.take() {
                        let lane = DeliveryLane(name: name, wakeup: wakeup, runner: self)
                        group.addTask { await lane.run() }
                    }
                    guard (try? await lanes.wait()) != nil else { break }
                }
            }
        }
    }

    /// Wakes the lanes with deliveries that were unsent when the server last shut down.
    private func takeUp() async {
        while !Task.isCancelled {
            do {
                for lane in try await store.webhooks.deliveryLanes() { lanes.wake(lane) }
                return
            } catch is CancellationError {
                return
            } catch {
                logger.error("what is to be delivered cannot be read", metadata: ["error": "\(error)"])
                try? await clock.wall.sleep(for: .seconds(1), as: .storeRetry)
            }
        }
    }
}
