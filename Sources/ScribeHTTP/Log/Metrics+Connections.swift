import Connections
import ScribeRuntime

extension Metrics: ConnectionCounter {}
