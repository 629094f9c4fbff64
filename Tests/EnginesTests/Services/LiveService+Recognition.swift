import Foundation
import NIOCore
import NIOWebSocket

/// Recognition on one connection of a ``LiveService``.
final class Recognition: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let state: LiveService.State
    /// Bytes of audio until the connection breaks; nil if it does not.
    private var left: Int?
    private var samples: [Int16] = []
    /// Samples with a final result.
    private var settled = 0
    private var keepAlives = 0

    /// Whether the service has sent a close frame, and only waits for the client's.
    private let hasClosed: Bool

    init(_ state: LiveService.State, cutAt: Int? = nil, hasClosed: Bool = false) {
        self.state = state
        left = cutAt
        self.hasClosed = hasClosed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .connectionClose:
            state.note { $0.closes += 1 }
            context.close(promise: nil)
        case _ where hasClosed: break
        case .binary: hear(frame.unmaskedData, context)
        case .text: obey(frame.unmaskedData, context)
        case .ping: send(.pong, frame.unmaskedData, context)
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func hear(_ audio: ByteBuffer, _ context: ChannelHandlerContext) {
        var audio = audio
        if let left, audio.readableBytes >= left { return context.close(promise: nil) }
        left = left.map { $0 - audio.readableBytes }
        while let sample = audio.readInteger(endianness: .little, as: Int16.self) { samples.append(sample) }
        let five = 5 * LiveService.word
        while samples.count - settled >= five { settle(upTo: settled + five, "", context) }
        if samples.count - settled >= LiveService.word { say(settled..<settled + LiveService.word, "", context) }
    }

    private func obey(_ text: ByteBuffer, _ context: ChannelHandlerContext) {
        struct Message: Decodable { let type: String }
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(text.readableBytesView)) else { return }
        state.note { $0.messages.append(message.type) }
        switch message.type {
        case "Finalize": settle(upTo: samples.count, #","speech_final":true,"from_finalize":true"#, context)
        case "CloseStream":
            if settled < samples.count { settle(upTo: samples.count, #","speech_final":true"#, context) }
            let duration = Double(samples.count) / Double(LiveService.rate)
            send(.text, ByteBuffer(string: #"{"type":"Metadata","duration":\#(duration)}"#), context)
            context.close(promise: nil)
        case "KeepAlive":
            // Deepgram says nothing. A test waits for this message, by which the client has heard of the service.
            keepAlives += 1
            send(.text, ByteBuffer(string: #"{"type":"SpeechStarted","timestamp":\#(keepAlives)}"#), context)
        default: break
        }
    }

    private func settle(upTo end: Int, _ more: String, _ context: ChannelHandlerContext) {
        say(settled..<end, #","is_final":true\#(more)"#, context)
        settled = end
    }

    /// Sends the words of a range of samples.
    private func say(_ range: Range<Int>, _ more: String, _ context: ChannelHandlerContext) {
        let first = Int((Double(range.lowerBound) / Double(LiveService.word)).rounded())
        let words = samples[range].removingRepetitions().enumerated().map { place, sample in
            let start = Double(first + place) / 10
            let text = "w\(sample - LiveService.firstWord)"
            return #"{"word":"\#(text)","start":\#(start),"end":\#(start + 0.1),"confidence":0.9}"#
        }
        let (rate, best) = (Double(LiveService.rate), #"{"confidence":0.9,"words":[\#(words.joined(separator: ","))]}"#)
        let times = #""start":\#(Double(range.lowerBound) / rate),"duration":\#(Double(range.count) / rate)"#
        let message =
            #"{"type":"Results","channel_index":[0,1],\#(times),"channel":{"alternatives":[\#(best)]}\#(more)}"#
        send(.text, ByteBuffer(string: message), context)
    }

    private func send(_ opcode: WebSocketOpcode, _ payload: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: payload)), promise: nil)
    }
}

extension Collection where Element: Equatable {
    /// Elements that differ from the one before.
    fileprivate func removingRepetitions() -> [Element] {
        reduce(into: []) { all, element in if all.last != element { all.append(element) } }
    }
}
