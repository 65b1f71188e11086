// A small fuzzer for compilers without libFuzzer: runs a target over its corpus, then over mutations of it.
//
//   fuzz_x [--seconds N] [--seed S] [--max-bytes N] [--findings FOLDER] [FILE or FOLDER]...
//
// The target runs in a child; the input stands in memory shared with the parent before it runs, so that whatever ends
// the child leaves the input as FOLDER/crash-HASH (or hang-HASH, memory-HASH), which given as FILE runs again alone.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Clock = std::chrono::steady_clock;
using Input = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
constexpr auto kHang = std::chrono::seconds(20);
constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30U;

struct Options {
  std::uint64_t seconds = 0;
  std::uint64_t seed = 1;
  std::size_t max_bytes = 4096;
  fs::path findings = ".";
  std::vector<fs::path> paths;
};

// Written by the child, read by the parent, also after the child's death.
struct Shared {
  std::atomic<std::uint64_t> runs = 0;
  std::atomic<std::size_t> size = 0;
  std::array<std::uint8_t, kMostBytes> bytes{};
};

// What mutations are made of: the corpus, and the words found in it.
class Mutator {
 public:
  Mutator(std::vector<Input> corpus, std::uint64_t seed, std::size_t max_bytes)
      : corpus_(std::move(corpus)), random_(seed), max_bytes_(max_bytes) {
    if (corpus_.empty()) corpus_.emplace_back();
    for (const Input& input : corpus_) collect_words(input);
    for (const std::string_view word : {"\0", "\xff\xff\xff\xff", "\x7f", "-1", "18446744073709551616", "1e309"})
      words_.emplace_back(word.begin(), word.end());
  }

  Input next() {
    Input input = any(corpus_);
    for (std::size_t steps = 1 + below(6); steps > 0; --steps) mutate(input);
    if (input.size() > max_bytes_) input.resize(max_bytes_);
    return input;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  const Input& any(const std::vector<Input>& from) { return from[below(from.size())]; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }

  void collect_words(const Input& input) {
    Input word;
    for (const std::uint8_t c : input) {
      const bool inside = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
      if (inside && word.size() < 32) {
        word.push_back(c);
      } else {
        if (word.size() > 1 && words_.size() < 10000) words_.push_back(word);
        word.clear();
        words_.push_back({c});
        if (words_.size() > 10000) return;
      }
    }
    if (word.size() > 1) words_.push_back(word);
  }

  void insert(Input& input, const Input& what) {
    const auto at = static_cast<std::ptrdiff_t>(below(input.size() + 1));
    input.insert(input.begin() + at, what.begin(), what.end());
  }

  void mutate(Input& input) {
    const std::size_t at = below(input.size());
    const auto from = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = static_cast<std::ptrdiff_t>(1 + below(std::min<std::size_t>(input.size() - at, 64)));
    if (input.empty()) return insert(input, any(words_));
    switch (below(9)) {
      case 0:
        input[at] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:
        input[at] = byte();
        break;
      case 2:
        input[at] = static_cast<std::uint8_t>(input[at] + below(17) - 8);
        break;
      case 3:
        input.erase(from, std::min(from + count, input.end()));
        break;
      case 4:
        insert(input, Input(from, std::min(from + count, input.end())));
        break;
      case 5:
        insert(input, Input(1 + below(8), byte()));
        break;
      case 6:
        insert(input, any(words_));
        break;
      case 7: {  // a word in the place of as many bytes
        const Input& word = any(words_);
        std::copy_n(word.begin(), std::min(word.size(), input.size() - at), from);
        break;
      }
      default: {  // the head of this one and the tail of another
        const Input& other = any(corpus_);
        input.resize(at);
        input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end());
      }
    }
  }

  std::vector<Input> corpus_;
  std::vector<Input> words_;
  std::mt19937_64 random_;
  std::size_t max_bytes_;
};

[[noreturn]] void usage(std::string_view why) {
  std::fprintf(stderr, "%.*s\nusage: fuzz_x [--seconds N] [--seed S] [--max-bytes N] [--findings FOLDER] [PATH]...\n",
               static_cast<int>(why.size()), why.data());
  std::_Exit(2);
}

Options parse(const std::vector<std::string_view>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (!name.starts_with("--")) {
      options.paths.emplace_back(name);
      continue;
    }
    if (++i == arguments.size()) usage("a value is missing after the last option");
    const std::string_view text = arguments[i];
    std::uint64_t number = 0;
    if (name == "--findings") {
      options.findings = text;
      continue;
    }
    if (std::from_chars(text.data(), text.data() + text.size(), number).ptr != text.data() + text.size())
      usage("an option's value is not a number");
    if (name == "--seconds")
      options.seconds = number;
    else if (name == "--seed")
      options.seed = number;
    else if (name == "--max-bytes")
      options.max_bytes = std::min<std::size_t>(number, kMostBytes);
    else
      usage("unknown option");
  }
  return options;
}

std::vector<Input> read_corpus(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (fs::is_directory(path)) {
      for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file()) files.push_back(entry.path());
    } else {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus;
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) usage("cannot read " + file.string());
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (corpus.back().size() > kMostBytes) corpus.back().resize(kMostBytes);
  }
  return corpus;
}

void run(const Input& input, Shared& shared) {
  if (!input.empty()) std::memcpy(shared.bytes.data(), input.data(), input.size());
  shared.size = input.size();
  // A block of exactly this size, so that the address sanitizer sees a read beyond it.
  const Input exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ++shared.runs;
}

[[noreturn]] void child(const Options& options, Shared& shared) {
  std::vector<Input> corpus = read_corpus(options.paths);
  for (const Input& input : corpus) run(input, shared);
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  Mutator mutator(std::move(corpus), options.seed, options.max_bytes);
  while (Clock::now() < end) run(mutator.next(), shared);
  std::exit(0);  // with the leak check
}

std::uint64_t memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void save(const Options& options, const Shared& shared, const std::string& kind) {
  const std::string_view bytes(reinterpret_cast<const char*>(shared.bytes.data()), shared.size);
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016zx", std::hash<std::string_view>{}(bytes));
  const fs::path path = options.findings / (kind + "-" + hash.data());
  fs::create_directories(options.findings);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::fprintf(stderr, "%s: %zu bytes in %s\n", kind.c_str(), bytes.size(), path.c_str());
}

int watch(pid_t pid, const Options& options, const Shared& shared) {
  std::uint64_t last_runs = 0;
  auto last_progress = Clock::now();
  std::string kind = "crash";
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (shared.runs != last_runs) {
      last_runs = shared.runs;
      last_progress = Clock::now();
    }
    const bool hangs = Clock::now() - last_progress > kHang;
    if (!hangs && memory_of(pid) < kMostMemory) continue;
    kind = hangs ? "hang" : "memory";
    kill(pid, SIGKILL);
  }
  std::printf("%llu runs\n", static_cast<unsigned long long>(shared.runs));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 2) save(options, shared, kind);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse({argv + 1, argv + argc});
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  Shared& shared = *new (memory) Shared;
  const pid_t pid = fork();
  if (pid < 0) {
    std::perror("fork");
    return 1;
  }
  if (pid == 0) child(options, shared);
  return watch(pid, options, shared);
}
