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
    private let store: Store
    private let sender: DeliverySender
    private let lanes: DeliveryLanes
    private let metrics: Metrics
    private let clock: WorldClock
    private let faults: FaultRules
    private let logger: Logger

    /// Maximum number of concurrent messages to all receivers.
    private static let messages = 256
    /// Maximum number of concurrent messages of one business, so that none takes all slots.
    private static let messagesOfBusiness = 32

    package init(
        store: Store, outbound: OutboundClient, formats: [any WebhookFormat], faults: FaultRules, journal: Journal?,
        changes: ChangeHub, metrics: Metrics, clock: WorldClock, logger: Logger
    ) {
        self.store = store
        self.metrics = metrics
        self.clock = clock
        self.faults = faults
        self.logger = logger
        lanes = changes.lanes
        sender = DeliverySender(
            outbound: outbound, formats: formats.byStyle, journal: journal, clock: clock)
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                let webhookFaults = WebhookFaults(rules: faults, store: store, clock: clock, logger: logger)
                let slots = Slots(count: Self.messages)
                let businessSlots = TenantSlots(count: Self.messagesOfBusiness)
                await takeUp()
                while !Task.isCancelled {
                    for (name, wakeup) in lanes.take() {
                        let lane = DeliveryLane(
                            name: name, wakeup: wakeup, lanes: lanes, sender: sender, faults: webhookFaults,
                            slots: slots,
                            businessSlots: businessSlots, store: store,
                            metrics: metrics, clock: clock, logger: logger)
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
