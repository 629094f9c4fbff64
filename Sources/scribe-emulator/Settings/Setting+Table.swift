import Eka
import Engines
import Foundation
import Listen
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Everything that can be set, in the order of its page. A further one is an entry in one of these lists and nothing else.
    static let all = place + speech + access + behaviour
}
