package import Engines
import Foundation
package import Logging
package import ObjectStorage
package import ScribeDomain
package import ScribeStore
import ServiceLifecycle

/// Runs the store's jobs until the server stops. Each kind of job has its own loop, so that no kind waits for another.
package struct JobRunner: Service {
    let loops: [WorkLoop]

    package init(
        store: Store, objects: any ObjectStore, transcriber: any Transcriber, noteWriter: any NoteWriter,
        fixtureBehaviour: FixtureBehaviour, faults: FaultRules, templates: TemplateCatalogue, changes: ChangeHub,
        metrics: Metrics,
        clock: WorldClock, policy: WorkPolicy,
        logger: Logger
    ) {
        let recognition = ChunkRecognition(
            store: store, objects: objects, transcriber: transcriber, fixtureBehaviour: fixtureBehaviour,
            faults: faults, templates: templates, metrics: metrics, clock: clock, logger: logger)
        let writing = NoteWriting(
            store: store, writer: noteWriter, fixtureBehaviour: fixtureBehaviour, faults: faults, templates: templates,
            metrics: metrics, clock: clock,
            logger: logger)
        let workers: [any Worker] = [
            ChunkWorker(recognition: recognition, policy: policy),
            AssemblyWorker(recognition: recognition, writing: writing, policy: policy),
            NoteWorker(writing: writing, policy: policy),
        ]
        loops = workers.compactMap { worker in
            changes.inboxes[worker.kind].map { inbox in
                WorkLoop(worker: worker, inbox: inbox, store: store, clock: clock, policy: policy, logger: logger)
            }
        }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for loop in loops { group.addTask { await loop.run() } }
            }
        }
    }
}
