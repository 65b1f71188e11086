#include "connectors/file/file_bytes.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace aqueduck {

namespace {

constexpr std::size_t kRawChunk = std::size_t{256} << 10;
constexpr std::size_t kMagicBytes = 4;
constexpr int kMaxWindowLog = 27;

}  // namespace

struct FileBytes::State {
  enum class Codec { unknown, none, gzip, zstd };

  int descriptor = -1;
  std::string name;
  Codec codec = Codec::unknown;
  std::vector<unsigned char> raw;
  std::size_t at = 0;
  std::size_t end = 0;
  std::uint64_t raw_bytes = 0;
  bool within_frame = false;
  z_stream gzip{};
  bool gzip_open = false;
  ZSTD_DStream* zstd = nullptr;

  State(int fd, std::string text) : descriptor(fd), name(std::move(text)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gzip_open) inflateEnd(&gzip);
    if (zstd != nullptr) ZSTD_freeDStream(zstd);
    if (descriptor >= 0) ::close(descriptor);
  }

  Result<std::size_t> read_raw(void* into, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(descriptor, into, size);
      if (got >= 0) {
        raw_bytes += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) return fail(ErrorKind::io, "cannot read {}: {}", name, std::strerror(errno));
    }
  }

  /// Makes at least `wanted` raw bytes available, fewer only at the end.
  Result<void> fill(std::size_t wanted) {
    if (raw.empty()) raw.resize(kRawChunk);
    if (at == end) at = end = 0;
    while (end - at < wanted && end < raw.size()) {
      AQ_ASSIGN(const std::size_t got, read_raw(raw.data() + end, raw.size() - end));
      if (got == 0) break;
      end += got;
    }
    return {};
  }

  Result<void> detect() {
    AQ_TRY(fill(kMagicBytes));
    const std::size_t left = end - at;
    const unsigned char* b = raw.data() + at;
    if (left >= 2 && b[0] == 0x1F && b[1] == 0x8B) {
      codec = Codec::gzip;
      constexpr int kGzipWindow = 15 + 16;
      if (inflateInit2(&gzip, kGzipWindow) != Z_OK) return fail(ErrorKind::limit, "no memory to decompress {}", name);
      gzip_open = true;
    } else if (left >= kMagicBytes && b[0] == 0x28 && b[1] == 0xB5 && b[2] == 0x2F && b[3] == 0xFD) {
      codec = Codec::zstd;
      zstd = ZSTD_createDStream();
      if (zstd == nullptr) return fail(ErrorKind::limit, "no memory to decompress {}", name);
      ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, kMaxWindowLog);
    } else if (left > 0) {
      codec = Codec::none;
    }
    return {};
  }

  Error damaged(std::string_view why) const {
    return make_error(ErrorKind::io, "{}: damaged compressed data near byte {}: {}", name, raw_bytes - (end - at), why);
  }

  /// One step: some output, or none because more input is needed.
  Result<std::size_t> decompress(std::span<char> into) {
    if (codec == Codec::gzip) {
      gzip.next_in = raw.data() + at;
      gzip.avail_in = static_cast<uInt>(end - at);
      gzip.next_out = reinterpret_cast<Bytef*>(into.data());
      gzip.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), kRawChunk * 16));
      const uInt room = gzip.avail_out;
      const int code = inflate(&gzip, Z_NO_FLUSH);
      at = end - gzip.avail_in;
      within_frame = code != Z_STREAM_END;
      if (code == Z_STREAM_END) inflateReset(&gzip);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return fail(damaged(gzip.msg == nullptr ? "gzip" : gzip.msg));
      }
      return room - gzip.avail_out;
    }
    ZSTD_inBuffer in{raw.data() + at, end - at, 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const std::size_t code = ZSTD_decompressStream(zstd, &out, &in);
    at += in.pos;
    if (ZSTD_isError(code) != 0) return fail(damaged(ZSTD_getErrorName(code)));
    within_frame = code != 0;
    return out.pos;
  }

  Result<std::size_t> read(std::span<char> into) {
    if (into.empty()) return std::size_t{0};
    if (codec == Codec::unknown) AQ_TRY(detect());
    if (codec == Codec::unknown) return std::size_t{0};
    if (codec == Codec::none) {
      if (at == end) return read_raw(into.data(), into.size());
      const std::size_t size = std::min(into.size(), end - at);
      std::memcpy(into.data(), raw.data() + at, size);
      at += size;
      return size;
    }
    for (;;) {
      AQ_TRY(fill(1));
      const bool exhausted = at == end;
      if (exhausted && !within_frame) return std::size_t{0};
      AQ_ASSIGN(const std::size_t got, decompress(into));
      if (got > 0) return got;
      if (exhausted && within_frame) return fail(damaged("it ends early"));
    }
  }
};

FileBytes::FileBytes(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileBytes::FileBytes(FileBytes&&) noexcept = default;
FileBytes& FileBytes::operator=(FileBytes&&) noexcept = default;
FileBytes::~FileBytes() = default;

Result<FileBytes> FileBytes::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorKind::io, "cannot open {}: {}", path.string(), std::strerror(errno));
  return adopt(descriptor, path.string());
}

FileBytes FileBytes::adopt(int descriptor, std::string name) {
  return FileBytes(std::make_unique<State>(descriptor, std::move(name)));
}

Result<std::size_t> FileBytes::read(std::span<char> into) { return state_->read(into); }

Result<bool> FileBytes::skip_to(std::uint64_t offset) {
  if (offset == 0) return true;
  if (state_->codec == State::Codec::unknown) AQ_TRY(state_->detect());
  if (state_->codec == State::Codec::none) {
    const off_t size = ::lseek(state_->descriptor, 0, SEEK_END);
    if (size < 0) return fail(ErrorKind::io, "cannot seek in {}: {}", state_->name, std::strerror(errno));
    if (static_cast<std::uint64_t>(size) < offset) return false;
    if (::lseek(state_->descriptor, static_cast<off_t>(offset), SEEK_SET) < 0) {
      return fail(ErrorKind::io, "cannot seek in {}: {}", state_->name, std::strerror(errno));
    }
    state_->at = state_->end = 0;
    state_->raw_bytes = offset;
    return true;
  }
  std::vector<char> dropped(kRawChunk);
  while (offset > 0) {
    AQ_ASSIGN(const std::size_t got,
              read(std::span<char>(dropped.data(), std::min<std::uint64_t>(dropped.size(), offset))));
    if (got == 0) return false;
    offset -= got;
  }
  return true;
}

bool FileBytes::compressed() const {
  return state_->codec == State::Codec::gzip || state_->codec == State::Codec::zstd;
}
std::uint64_t FileBytes::raw_bytes() const { return state_->raw_bytes; }
int FileBytes::descriptor() const { return state_->descriptor; }

}  // namespace aqueduck
